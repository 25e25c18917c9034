import { useSignal } from '@preact/signals';
import { answer, api } from '../../../api/client.ts';
import { useAct } from '../../../ui/act.ts';
import { CopyButton } from '../../../ui/copy.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import { QrCode } from '../../../ui/qr.tsx';
import { Time } from '../../../ui/time.tsx';
import { sayOthersEnded } from './others-ended.ts';
import { type Factor, ProofForm } from './proof.tsx';

interface Begun {
  readonly uri: string;
  readonly secret: string;
  readonly expiresAt: string;
}

/** Proof of the person first, then a key for the app, then a code of it. */
export function Enrol({
  factor,
  isOpen,
  done,
}: {
  factor: Factor;
  isOpen?: boolean;
  done: (codes: readonly string[]) => void;
}) {
  const begun = useSignal<Begun | undefined>(undefined);
  if (begun.value) return <Confirm begun={begun.value} done={done} cancel={() => (begun.value = undefined)} />;
  return (
    <ProofForm
      title={factor.passkeys.length > 0 ? 'Set up an authenticator app' : 'Set up a second factor'}
      why="You need an authenticator app, or a password manager that creates codes."
      act="Continue"
      factor={factor}
      isOpen={isOpen}
      run={async (body) => {
        const made = await answer(api.POST('/api/v1/users/me/otp', { body }));
        if ('uri' in made) begun.value = made;
      }}
    />
  );
}

interface ConfirmProps {
  readonly begun: Begun;
  readonly done: (codes: readonly string[]) => void;
  readonly cancel: () => void;
}

function Confirm({ begun: { uri, secret, expiresAt }, done, cancel }: ConfirmProps) {
  const code = useSignal('');
  const { isActing, problem, act } = useAct();
  const confirm = (event: Event) => {
    event.preventDefault();
    return act(async () => {
      const body = { code: code.value.trim() };
      const confirmed = await answer(api.POST('/api/v1/users/me/otp/confirm', { body }));
      sayOthersEnded('The second factor is on. Your other sessions ended.');
      done('recoveryCodes' in confirmed ? confirmed.recoveryCodes : []);
    });
  };
  return (
    <div class="panel enrol">
      <QrCode text={uri} label="QR code of the key for the authenticator app" />
      <Form problem={problem} class="stack" method="post" onSubmit={confirm}>
        <p>Scan this with the app, or type the key. Then enter the code that it shows.</p>
        <p>
          Key <code class="break">{secret}</code> <CopyButton text={secret} />
        </p>
        <p class="dim small">
          Valid until <Time at={expiresAt} />
        </p>
        <TextField label="Code of the app" fields={['code']} value={code} required autocomplete="one-time-code" />
        <ProblemNotice problem={problem.value} />
        <div class="row">
          <button type="submit" class="primary" disabled={isActing.value}>
            Turn on
          </button>
          <button type="button" class="quiet" onClick={cancel}>
            Cancel
          </button>
        </div>
      </Form>
    </div>
  );
}
