import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { parseInstant } from '../../core/base/time.ts';
import { listDrift } from '../../core/compliance/drift.ts';
import { FRAMEWORKS } from '../../core/model/frameworks.ts';
import { defineOperation } from '../define.ts';
import { pageQuery } from '../page.ts';
import { instant } from '../snapshots/snapshot-fields.ts';
import { controlStatus, frameworkText } from './assessment-fields.ts';

const cause = z.strictObject({ at: z.string(), revision: z.int().nullable(), actor: z.string().nullable() });
const drift = z.strictObject({
  id: z.string(),
  framework: z.enum(FRAMEWORKS),
  at: z.string(),
  evidence_id: z.string(),
  previous_evidence_id: z.string(),
  controls: z
    .array(z.strictObject({ control: z.string(), from: controlStatus, to: controlStatus, cause: cause.nullable() }))
    .readonly(),
});

export const listComplianceDrift = defineOperation({
  name: 'list_compliance_drift',
  title: 'List compliance drift',
  description:
    'Controls that assessments found otherwise than the ones before, newest first. A page may be short, or empty, and have a next_cursor: then there are more to look through.',
  input: z.strictObject({
    framework: frameworkText.optional(),
    control: lineOfText(TEXT_LIMITS.name).optional().describe('Only this control, such as PCI-DSS-1.2'),
    since: instant.optional().describe('Only what was found since'),
    ...pageQuery,
  }),
  output: z.strictObject({ items: z.array(drift), next_cursor: z.string().optional() }),
  columns: { Framework: 'framework', At: 'at', Assessment: 'evidence_id', Before: 'previous_evidence_id' },
  access: 'compliance:assess',
  workspace: 'scoped',
  edition: 'pro',
  effects: READ,
  problems: ['invalid_input'],
  http: { method: 'get', path: '/api/v1/ai/compliance/drift' },
  async run({ since, ...query }, { services, workspace }) {
    const from = since === undefined ? undefined : parseInstant(since);
    const { items, next } = await listDrift(services, workspace, { ...query, since: from });
    return { items: [...items], ...(next !== undefined && { next_cursor: next }) };
  },
});
