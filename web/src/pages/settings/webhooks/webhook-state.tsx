import type { Webhook } from '../../../api/types.ts';
import { Chip } from '../../../design/chip.tsx';

export function WebhookState({ webhook: { enabled, failingSince } }: { webhook: Webhook }) {
  if (!enabled) return <Chip tone="danger">✕ disabled</Chip>;
  if (failingSince) return <Chip tone="warn">▲ failing</Chip>;
  return <Chip tone="ok">● enabled</Chip>;
}
