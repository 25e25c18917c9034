import { useComputed, useSignal } from '@preact/signals';
import { answer, api } from '../../../api/client.ts';
import { useLoaded } from '../../../api/load.ts';
import type { WebhookDelivery } from '../../../api/types.ts';
import { may, workspaceId } from '../../../api/workspace.ts';
import { write } from '../../../api/write.ts';
import { route, setQuery } from '../../../route/route.ts';
import { texts } from '../../../texts/texts.ts';
import { webhooks as words } from '../../../texts/webhooks.ts';
import { useAct } from '../../../ui/act.ts';
import { CodeBlock } from '../../../ui/code-block.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Facts } from '../../../ui/facts.tsx';
import { Empty } from '../../../ui/page.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import { ReadResult } from '../../../ui/read-result.tsx';
import { type Column, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';

type Status = WebhookDelivery['status'];

const PATH = '/api/v1/workspaces/{workspaceId}/webhooks/{id}';
const TONES: Record<Status, string> = { waiting: 'warn', delivered: 'ok', dead: 'danger' };
const MARKS: Record<Status, string> = { waiting: '◐', delivered: '●', dead: '✕' };
const DAYS_30_MS = 30 * 86_400_000;
const SHOWN = 100;

function DeliveryState({ status }: { status: Status }) {
  return (
    <span class={`tag ${TONES[status]}`}>
      <span aria-hidden="true">{MARKS[status]}</span> {words.states[status]}
    </span>
  );
}

/** What was sent by a webhook, newest first. The status that is asked for stands in the address. */
export function Deliveries({ webhook }: { webhook: string }) {
  const opened = useSignal<string | undefined>(undefined);
  const { isActing, problem: refused, act } = useAct();
  const path = { workspaceId: workspaceId.value ?? '', id: webhook };
  const loaded = useLoaded(() => {
    const status = statusOf(route.value.query.get('status'));
    const query = { limit: SHOWN, ...(status && { status }) };
    return answer(api.GET(`${PATH}/deliveries`, { params: { path, query } }));
  });
  const rows = useComputed(() => loaded.value.value?.items ?? []);
  const { reload } = loaded.value;
  const status = statusOf(route.value.query.get('status'));
  const resendDead = () => {
    const body = { since: new Date(Date.now() - DAYS_30_MS).toISOString() };
    const call = api.POST(`${PATH}/resend-dead`, { params: { path }, body });
    return act(() => write(call, (done) => ('resent' in done ? words.resentDead(done.resent, done.left) : '')));
  };
  const columns: readonly Column<WebhookDelivery>[] = [
    {
      name: words.event,
      cell: ({ id, type }) => (
        <button type="button" class="link" onClick={() => (opened.value = id)}>
          {type}
        </button>
      ),
    },
    { name: words.status, cell: (delivery) => <DeliveryState status={delivery.status} /> },
    { name: words.answer, cell: ({ responseStatus, error }) => responseStatus ?? error ?? '' },
    { name: words.attempts, cell: ({ attempts }) => attempts, isNumber: true, isMinor: true },
    { name: words.when, cell: ({ createdAt }) => <Time at={createdAt} />, isMinor: true },
    { name: words.next, cell: ({ nextAttemptAt }) => nextAttemptAt && <Time at={nextAttemptAt} />, isMinor: true },
  ];
  return (
    <section class="stack">
      <div class="row">
        <h3>{words.deliveries}</h3>
        <label class="row push">
          {words.status}
          <select value={status ?? ''} onChange={({ currentTarget }) => setQuery({ status: currentTarget.value })}>
            <option value="">{words.any}</option>
            {Object.entries(words.states).map(([name, text]) => (
              <option key={name} value={name}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <button type="button" onClick={reload}>
          {texts.common.refresh}
        </button>
        {may('members:write') && rows.value.some((one) => one.status === 'dead') && (
          <button type="button" disabled={isActing.value} onClick={resendDead}>
            {words.resendDead}
          </button>
        )}
      </div>
      <ProblemNotice problem={refused.value} />
      <Table
        read={loaded.value}
        label={words.deliveries}
        isPart
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        empty={<Empty>{status ? texts.common.noMatch : words.noDeliveries}</Empty>}
      />
      {opened.value && <Delivery webhook={webhook} id={opened.value} close={() => (opened.value = undefined)} />}
    </section>
  );
}

function statusOf(text: string | null): Status | undefined {
  return text !== null && Object.hasOwn(words.states, text) ? (text as Status) : undefined;
}

function Delivery({ webhook, id, close }: { webhook: string; id: string; close: () => void }) {
  const path = { workspaceId: workspaceId.value ?? '', id: webhook, deliveryId: id };
  const loaded = useLoaded(() => answer(api.GET(`${PATH}/deliveries/{deliveryId}`, { params: { path } })));
  const { isActing, problem: refused, act } = useAct();
  const { value } = loaded.value;
  const resend = () =>
    act(() => write(api.POST(`${PATH}/deliveries/{deliveryId}/resend`, { params: { path } }), words.resent));
  return (
    <Dialog title={value?.type ?? words.deliveries} close={close}>
      <ProblemNotice problem={refused.value} />
      <ReadResult of={loaded.value}>
        {(value) => (
          <>
            <Facts
              facts={[
                [words.status, <DeliveryState key="status" status={value.status} />],
                [words.attempts, value.attempts],
                [words.last, value.lastAttemptAt && <Time at={value.lastAttemptAt} />],
                [words.next, value.nextAttemptAt && <Time at={value.nextAttemptAt} />],
                [words.answer, value.responseStatus],
                [words.error, value.error],
              ]}
            />
            <CodeBlock label={words.body} text={JSON.stringify(JSON.parse(value.body), null, 2)} />
            {value.response && <CodeBlock label={words.response} text={value.response} />}
            <div class="row">
              {may('members:write') && value.status !== 'waiting' && (
                <button type="button" disabled={isActing.value} onClick={resend}>
                  {words.resend}
                </button>
              )}
              <button type="button" class="quiet" onClick={close}>
                {texts.common.close}
              </button>
            </div>
          </>
        )}
      </ReadResult>
    </Dialog>
  );
}
