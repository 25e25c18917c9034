import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';

export const agentId = lineOfText(TEXT_LIMITS.reference).min(1).describe('Id or name of an agent');

export const agentColumns = {
  Name: 'name',
  Id: 'id',
  Phase: 'phase',
  Parent: 'parentRef.name',
  Preset: 'policyPreset',
  Peer: 'peer',
  Person: 'person',
  Ends: 'expiresAt',
} as const;
