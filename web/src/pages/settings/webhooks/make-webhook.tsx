import { useSignal } from '@preact/signals';
import { answer, api } from '../../../api/client.ts';
import { changed } from '../../../api/load.ts';
import { workspaceId } from '../../../api/workspace.ts';
import { WAITS } from '../../../api/write.ts';
import { Dialog } from '../../../ui/dialog.tsx';
import { say } from '../../../ui/message.tsx';
import { Secret } from '../../../ui/secret.tsx';
import { WebhookForm } from './webhook-form.tsx';

export function MakeWebhook() {
  const secret = useSignal<string | undefined>(undefined);
  const made = useSignal(0);
  return (
    <>
      <details>
        <summary>New webhook</summary>
        <WebhookForm
          key={made.value}
          act="Create webhook"
          run={async (body) => {
            const params = { path: { workspaceId: workspaceId.value ?? '' } };
            const webhook = await answer(
              api.POST('/api/v1/workspaces/{workspaceId}/webhooks', { params, body: { ...body, enabled: true } }),
            );
            changed.value += 1;
            made.value += 1;
            if ('secret' in webhook) secret.value = webhook.secret;
            else say(WAITS);
          }}
        />
      </details>
      {secret.value && <SecretDialog secret={secret.value} close={() => (secret.value = undefined)} />}
    </>
  );
}

export function SecretDialog({ secret, note, close }: { secret: string; note?: string; close: () => void }) {
  return (
    <Dialog title="Signing secret" close={close}>
      <p>Receivers check the signature of each request with it.</p>
      <Secret label="Signing secret" text={secret} />
      {note && <p>{note}</p>}
      <div class="row">
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
