import type { Caller } from '../base/caller.ts';
import { MeshError } from '../base/errors.ts';
import type { Store } from '../base/ports.ts';
import type { WebhookRecord } from './webhook-record.ts';

/** By its id. @throws MeshError `not_found` */
export async function findWebhook(
  { store }: { readonly store: Pick<Store, 'getById'> },
  workspace: string,
  id: string,
): Promise<WebhookRecord> {
  const webhook = await store.getById(workspace, 'Webhook', id);
  if (webhook) return webhook;
  throw new MeshError('not_found', `There is no webhook ${id} in this workspace: list_webhooks shows them.`);
}

/**
 * A webhook tells someone outside what happens, so people alone decide about it, also by a token of theirs, and agents never,
 * whatever scopes they were given.
 *
 * @throws MeshError `forbidden`
 */
export function requireAdministrator({ caller }: { readonly caller: Caller }): Caller {
  if (caller.kind === 'user') return caller;
  throw new MeshError(
    'forbidden',
    'Only people manage webhooks, logged in or with an API token of theirs; agents do not.',
  );
}
