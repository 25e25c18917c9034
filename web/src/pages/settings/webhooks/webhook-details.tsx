import { useSignal } from '@preact/signals';
import { answer, api } from '../../../api/client.ts';
import { changed, useLoaded } from '../../../api/load.ts';
import type { Webhook } from '../../../api/types.ts';
import { may, workspaceId } from '../../../api/workspace.ts';
import { WAITS, write } from '../../../api/write.ts';
import { actorText } from '../../../design/actor-words.ts';
import { goTo, linkTo } from '../../../route/route.ts';
import { useAct } from '../../../ui/act.ts';
import { Confirm } from '../../../ui/dialog.tsx';
import { Facts } from '../../../ui/facts.tsx';
import { say } from '../../../ui/message.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import { ReadResult } from '../../../ui/read-result.tsx';
import { exactTime, Time } from '../../../ui/time.tsx';
import { Deliveries } from './deliveries.tsx';
import { SecretDialog } from './make-webhook.tsx';
import { WebhookForm } from './webhook-form.tsx';
import { WebhookState } from './webhook-state.tsx';

const PATH = '/api/v1/workspaces/{workspaceId}/webhooks/{id}';

export function WebhookDetails({ id }: { id: string }) {
  const path = { workspaceId: workspaceId.value ?? '', id };
  const loaded = useLoaded(() => answer(api.GET(PATH, { params: { path } })));
  return <ReadResult of={loaded.value}>{(webhook) => <Details webhook={webhook} />}</ReadResult>;
}

function Details({ webhook }: { webhook: Webhook }) {
  const { url, description, events, failingSince, disabledReason, createdAt, createdBy } = webhook;
  return (
    <article class="panel stack" aria-label={description || url}>
      <div class="row">
        <h3 class="break">{description || url}</h3>
        <WebhookState webhook={webhook} />
        <a class="push" href={linkTo('settings', ['webhooks'])}>
          Close
        </a>
      </div>
      <Facts
        facts={[
          ['URL', <code key="url">{url}</code>],
          ['Events', events.join(' ')],
          ['Failing since', failingSince && <Time at={failingSince} />],
          ['Disabled because', disabledReason],
          ['Created', [<Time key="made" at={createdAt} />, ` by ${actorText(createdBy)}`]],
        ]}
      />
      {may('members:write') && <Actions webhook={webhook} />}
      <Deliveries webhook={webhook.id} />
    </article>
  );
}

function Actions({ webhook }: { webhook: Webhook }) {
  const asked = useSignal<'rotate' | 'delete' | undefined>(undefined);
  const rotated = useSignal<{ readonly secret: string; readonly oldSecretUntil: string } | undefined>(undefined);
  const { isActing, problem, act } = useAct();
  const params = { path: { workspaceId: workspaceId.value ?? '', id: webhook.id } };
  const { enabled } = webhook;
  const turn = () =>
    act(() => write(api.PATCH(PATH, { params, body: { enabled: !enabled } }), 'The webhook is saved.'));
  const test = () => act(() => write(api.POST(`${PATH}/test`, { params }), 'A test was sent: see Deliveries.'));
  const rotate = async () => {
    const made = await answer(api.POST(`${PATH}/rotate-secret`, { params }));
    changed.value += 1;
    if ('secret' in made) rotated.value = made;
    else say(WAITS);
  };
  const remove = async () => {
    await write(api.DELETE(PATH, { params }), 'The webhook is deleted.');
    goTo(linkTo('settings', ['webhooks']));
  };
  const close = () => {
    asked.value = undefined;
  };
  return (
    <>
      <ProblemNotice problem={problem.value} />
      <div class="row">
        <button type="button" disabled={isActing.value} onClick={test}>
          Send a test
        </button>
        <button type="button" disabled={isActing.value} onClick={turn}>
          {enabled ? 'Disable' : 'Enable'}
        </button>
        <button type="button" onClick={() => (asked.value = 'rotate')}>
          Rotate secret
        </button>
        <button type="button" class="danger" onClick={() => (asked.value = 'delete')}>
          Delete
        </button>
      </div>
      <details>
        <summary>Edit</summary>
        <WebhookForm
          webhook={webhook}
          act="Save"
          run={(body) => write(api.PATCH(PATH, { params, body }), 'The webhook is saved.')}
        />
      </details>
      {asked.value === 'rotate' && (
        <Confirm title="Rotate the secret?" act="Rotate secret" run={rotate} close={close}>
          <p>Both secrets sign for a day. Give the new one to the receiver in that time.</p>
        </Confirm>
      )}
      {asked.value === 'delete' && (
        <Confirm
          title="Delete this webhook?"
          act="Delete webhook"
          name={webhook.description || new URL(webhook.url).host}
          run={remove}
          close={close}
        >
          <p>Deletes its deliveries too. The receiver gets no more events.</p>
        </Confirm>
      )}
      {rotated.value && (
        <SecretDialog
          secret={rotated.value.secret}
          note={`The old one signs until ${exactTime(rotated.value.oldSecretUntil)}.`}
          close={() => (rotated.value = undefined)}
        />
      )}
    </>
  );
}
