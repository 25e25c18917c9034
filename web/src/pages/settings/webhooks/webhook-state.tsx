import type { Webhook } from '../../../api/types.ts';
import { webhooks as words } from '../../../texts/webhooks.ts';

export function WebhookState({ webhook: { enabled, failingSince } }: { webhook: Webhook }) {
  if (!enabled) return <span class="tag danger">✕ {words.disabled}</span>;
  if (failingSince) return <span class="tag warn">▲ {words.failing}</span>;
  return <span class="tag ok">● {words.enabled}</span>;
}
