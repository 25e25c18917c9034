import { useComputed, useSignal } from '@preact/signals';
import { answer, api } from '../../../api/client.ts';
import { useLoaded } from '../../../api/load.ts';
import type { WebhookDelivery } from '../../../api/types.ts';
import { may, workspaceId } from '../../../api/workspace.ts';
import { write } from '../../../api/write.ts';
import { Chip, type Tone } from '../../../design/chip.tsx';
import { queryPart, setQuery } from '../../../route/route.ts';
import { useAct } from '../../../ui/act.ts';
import { CodeBlock } from '../../../ui/code-block.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Facts } from '../../../ui/facts.tsx';
import { Empty } from '../../../ui/page.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import { ReadResult } from '../../../ui/read-result.tsx';
import { type Column, NO_MATCH, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';

const STATES = { waiting: 'waiting', delivered: 'delivered', dead: 'dead' } as const;

type Status = WebhookDelivery['status'];

const PATH = '/api/v1/workspaces/{workspaceId}/webhooks/{id}';
const TONES: Record<Status, Tone | ''> = { waiting: 'warn', delivered: 'ok', dead: 'danger' };
const MARKS: Record<Status, string> = { waiting: '◐', delivered: '●', dead: '✕' };
const DAYS_30_MS = 30 * 86_400_000;
const SHOWN = 100;

function DeliveryState({ status }: { status: Status }) {
  return (
    <Chip tone={TONES[status]}>
      <span aria-hidden="true">{MARKS[status]}</span> {STATES[status]}
    </Chip>
  );
}

/** What was sent by a webhook, newest first. The status that is asked for stands in the address. */
export function Deliveries({ webhook }: { webhook: string }) {
  const opened = useSignal<string | undefined>(undefined);
  const { isActing, problem: refused, act } = useAct();
  const path = { workspaceId: workspaceId.value ?? '', id: webhook };
  const loaded = useLoaded(() => {
    const status = statusOf(queryPart('status'));
    const query = { limit: SHOWN, ...(status && { status }) };
    return answer(api.GET(`${PATH}/deliveries`, { params: { path, query } }));
  });
  const rows = useComputed(() => loaded.value.value?.items ?? []);
  const { reload } = loaded.value;
  const status = statusOf(queryPart('status'));
  const resendDead = () => {
    const body = { since: new Date(Date.now() - DAYS_30_MS).toISOString() };
    const call = api.POST(`${PATH}/resend-dead`, { params: { path }, body });
    return act(() =>
      write(call, (done) =>
        'resent' in done
          ? `${done.resent} resent.${done.left > 0 ? ` ${done.left} left: the queue is full.` : ''}`
          : '',
      ),
    );
  };
  const columns: readonly Column<WebhookDelivery>[] = [
    {
      name: 'Event',
      cell: ({ id, type }) => (
        <button type="button" class="link" onClick={() => (opened.value = id)}>
          {type}
        </button>
      ),
    },
    { name: 'Status', cell: (delivery) => <DeliveryState status={delivery.status} /> },
    { name: 'Answer', cell: ({ responseStatus, error }) => responseStatus ?? error ?? '' },
    { name: 'Attempts', cell: ({ attempts }) => attempts, isNumber: true, isMinor: true },
    { name: 'Created', cell: ({ createdAt }) => <Time at={createdAt} />, isMinor: true },
    { name: 'Next attempt', cell: ({ nextAttemptAt }) => nextAttemptAt && <Time at={nextAttemptAt} />, isMinor: true },
  ];
  return (
    <section class="stack">
      <div class="row">
        <h3>Deliveries</h3>
        <label class="row push">
          Status
          <select value={status ?? ''} onChange={({ currentTarget }) => setQuery({ status: currentTarget.value })}>
            <option value="">any</option>
            {Object.entries(STATES).map(([name, text]) => (
              <option key={name} value={name}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <button type="button" onClick={reload}>
          Refresh
        </button>
        {may('members:write') && rows.value.some((one) => one.status === 'dead') && (
          <button type="button" disabled={isActing.value} onClick={resendDead}>
            Resend all dead
          </button>
        )}
      </div>
      <ProblemNotice problem={refused.value} />
      <Table
        read={loaded.value}
        label="Deliveries"
        isPart
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        empty={<Empty>{status ? NO_MATCH : 'Nothing was sent yet. Send a test.'}</Empty>}
      />
      {opened.value && <Delivery webhook={webhook} id={opened.value} close={() => (opened.value = undefined)} />}
    </section>
  );
}

function statusOf(text: string | null): Status | undefined {
  return text !== null && Object.hasOwn(STATES, text) ? (text as Status) : undefined;
}

function Delivery({ webhook, id, close }: { webhook: string; id: string; close: () => void }) {
  const path = { workspaceId: workspaceId.value ?? '', id: webhook, deliveryId: id };
  const loaded = useLoaded(() => answer(api.GET(`${PATH}/deliveries/{deliveryId}`, { params: { path } })));
  const { isActing, problem: refused, act } = useAct();
  const { value } = loaded.value;
  const resend = () =>
    act(() =>
      write(api.POST(`${PATH}/deliveries/{deliveryId}/resend`, { params: { path } }), 'The delivery is resent.'),
    );
  return (
    <Dialog title={value?.type ?? 'Deliveries'} close={close}>
      <ProblemNotice problem={refused.value} />
      <ReadResult of={loaded.value}>
        {(value) => (
          <>
            <Facts
              facts={[
                ['Status', <DeliveryState key="status" status={value.status} />],
                ['Attempts', value.attempts],
                ['Last attempt', value.lastAttemptAt && <Time at={value.lastAttemptAt} />],
                ['Next attempt', value.nextAttemptAt && <Time at={value.nextAttemptAt} />],
                ['Answer', value.responseStatus],
                ['Error', value.error],
              ]}
            />
            <CodeBlock label="Request body" text={JSON.stringify(JSON.parse(value.body), null, 2)} />
            {value.response && <CodeBlock label="Response" text={value.response} />}
            <div class="row">
              {may('members:write') && value.status !== 'waiting' && (
                <button type="button" disabled={isActing.value} onClick={resend}>
                  Resend
                </button>
              )}
              <button type="button" class="quiet" onClick={close}>
                Close
              </button>
            </div>
          </>
        )}
      </ReadResult>
    </Dialog>
  );
}
