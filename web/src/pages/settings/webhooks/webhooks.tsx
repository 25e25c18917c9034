import { useComputed } from '@preact/signals';
import { allPages } from '../../../api/all-pages.ts';
import { api } from '../../../api/client.ts';
import { useLoaded } from '../../../api/load.ts';
import type { Webhook } from '../../../api/types.ts';
import { may, workspaceId } from '../../../api/workspace.ts';
import { goTo, linkTo, route } from '../../../route/route.ts';
import { ListSection } from '../../../ui/list.tsx';
import type { Column } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { MakeWebhook } from './make-webhook.tsx';
import { WebhookDetails } from './webhook-details.tsx';
import { WebhookState } from './webhook-state.tsx';

const COLUMNS: readonly Column<Webhook>[] = [
  {
    name: 'URL',
    cell: ({ id, url, description }) => (
      <a href={linkTo('settings', ['webhooks', id])} title={url}>
        {description || url}
      </a>
    ),
    order: ({ url, description }) => description || url,
  },
  { name: 'State', cell: (webhook) => <WebhookState webhook={webhook} /> },
  { name: 'Events', cell: ({ events }) => events.join(' '), isMinor: true },
  { name: 'Created', cell: ({ createdAt }) => <Time at={createdAt} />, isMinor: true },
];

/** The webhooks of the workspace; `#/…/settings/webhooks/<id>` shows one with its deliveries. */
export function Webhooks() {
  const loaded = useLoaded(() => {
    const path = { workspaceId: workspaceId.value ?? '' };
    return allPages<Webhook>((cursor) =>
      api.GET('/api/v1/workspaces/{workspaceId}/webhooks', {
        params: { path, query: { limit: 200, ...(cursor && { cursor }) } },
      }),
    );
  });
  const rows = useComputed(() => loaded.value.value);
  const [, chosen] = route.value.rest;
  return (
    <ListSection
      title="Webhooks"
      why="Posts the events of this workspace to a URL, signed by Standard Webhooks."
      of={loaded}
      rows={rows}
      columns={COLUMNS}
      keyOf={({ id }) => id}
      selected={chosen}
      open={({ id }) => goTo(linkTo('settings', ['webhooks', id]))}
      empty="No webhooks yet. Create one to notify a chat, ticket system or pager of pending changes."
    >
      {chosen && <WebhookDetails key={chosen} id={chosen} />}
      {may('members:write') && !chosen && <MakeWebhook />}
    </ListSection>
  );
}
