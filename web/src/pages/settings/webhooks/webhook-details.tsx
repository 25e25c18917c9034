import { useSignal } from '@preact/signals';
import { answer, api } from '../../../api/client.ts';
import { changed, useLoaded } from '../../../api/load.ts';
import type { Webhook } from '../../../api/types.ts';
import { may, workspaceId } from '../../../api/workspace.ts';
import { write } from '../../../api/write.ts';
import { goTo, linkTo } from '../../../route/route.ts';
import { texts } from '../../../texts/texts.ts';
import { webhooks as words } from '../../../texts/webhooks.ts';
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
          {texts.common.close}
        </a>
      </div>
      <Facts
        facts={[
          [words.url, <code key="url">{url}</code>],
          [words.events, events.join(' ')],
          [words.failingSince, failingSince && <Time at={failingSince} />],
          [words.disabledReason, disabledReason],
          [words.made, [<Time key="made" at={createdAt} />, ` ${words.madeBy} ${createdBy}`]],
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
  const turn = () => act(() => write(api.PATCH(PATH, { params, body: { enabled: !enabled } }), words.saved));
  const test = () => act(() => write(api.POST(`${PATH}/test`, { params }), words.tested));
  const rotate = async () => {
    const made = await answer(api.POST(`${PATH}/rotate-secret`, { params }));
    changed.value += 1;
    if ('secret' in made) rotated.value = made;
    else say(texts.common.waits);
  };
  const remove = async () => {
    await write(api.DELETE(PATH, { params }), words.deleted);
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
          {words.test}
        </button>
        <button type="button" disabled={isActing.value} onClick={turn}>
          {enabled ? words.disable : words.enable}
        </button>
        <button type="button" onClick={() => (asked.value = 'rotate')}>
          {words.rotate}
        </button>
        <button type="button" class="danger" onClick={() => (asked.value = 'delete')}>
          {words.delete}
        </button>
      </div>
      <details>
        <summary>{words.edit}</summary>
        <WebhookForm
          webhook={webhook}
          act={texts.common.save}
          run={(body) => write(api.PATCH(PATH, { params, body }), words.saved)}
        />
      </details>
      {asked.value === 'rotate' && (
        <Confirm title={words.rotateTitle} act={words.rotate} run={rotate} close={close}>
          <p>{words.rotateWhy}</p>
        </Confirm>
      )}
      {asked.value === 'delete' && (
        <Confirm
          title={words.deleteTitle}
          act={words.deleteAct}
          name={webhook.description || new URL(webhook.url).host}
          run={remove}
          close={close}
        >
          <p>{words.deleteWhy}</p>
        </Confirm>
      )}
      {rotated.value && (
        <SecretDialog
          secret={rotated.value.secret}
          note={`${words.oldUntil} ${exactTime(rotated.value.oldSecretUntil)}.`}
          close={() => (rotated.value = undefined)}
        />
      )}
    </>
  );
}
