import { type Signal, useSignal } from '@preact/signals';
import { answer, api } from '../../../api/client.ts';
import { useLoaded } from '../../../api/load.ts';
import { Chip } from '../../../design/chip.tsx';
import { useAct } from '../../../ui/act.ts';
import { TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { say } from '../../../ui/message.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import { ReadResult } from '../../../ui/read-result.tsx';
import { Time } from '../../../ui/time.tsx';
import { Enrol } from './enrol.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';

/** The second factor of the person: to turn on, to renew its recovery codes, to remove. Codes are shown once. */
export function SecondFactor() {
  const codes = useSignal<readonly string[] | undefined>(undefined);
  const loaded = useLoaded(() => answer(api.GET('/api/v1/users/me/otp')), { live: false });
  const { value, reload } = loaded.value;
  const show = (shown: readonly string[] | undefined) => {
    codes.value = shown;
    reload();
  };
  return (
    <section class="stack" aria-labelledby="factor">
      <h2 id="factor">Second factor</h2>
      <ReadResult of={loaded.value} />
      {/* What it was set up with goes when the codes come, not when it is read that it is on. */}
      {value && !value.enrolled && !codes.value && (
        <>
          <p>
            Off. Your password alone signs you in.{' '}
            {value.required && <strong>This installation requires one for administrators.</strong>}
          </p>
          <Enrol done={show} />
        </>
      )}
      {value?.enrolled && (
        <p>
          <Chip tone="ok">● On since</Chip> <Time at={value.since} /> {value.recoveryCodesLeft} recovery{' '}
          {value.recoveryCodesLeft === 1 ? 'code' : 'codes'} left.
        </p>
      )}
      {codes.value && <RecoveryCodes codes={codes.value} done={() => (codes.value = undefined)} />}
      {value?.enrolled && !codes.value && (
        <div class="stack-small">
          <Renew done={show} />
          <Remove done={reload} />
        </div>
      )}
    </section>
  );
}

interface ProofProps {
  readonly title: string;
  readonly why: string;
  readonly isDanger?: boolean;
  readonly run: (proof: { readonly password: string; readonly otp: string }) => Promise<unknown>;
}

/** Asks for the password and a code before something about the factor is changed. */
function Proof({ title, why, isDanger, run }: ProofProps) {
  const password = useSignal('');
  const otp = useSignal('');
  const { isActing, problem, act } = useAct();
  const submit = async (event: Event) => {
    event.preventDefault();
    const isDone = await act(() => run({ password: password.value, otp: otp.value.trim() }));
    if (isDone) for (const field of [password, otp] as Signal<string>[]) field.value = '';
  };
  return (
    <details>
      <summary>{title}</summary>
      <Form problem={problem} class="panel stack narrow" method="post" onSubmit={submit}>
        <p>{why}</p>
        <TextField
          label="Your password"
          fields={['password']}
          type="password"
          value={password}
          required
          autocomplete="current-password"
        />
        <TextField
          label="Code of the app, or a recovery code"
          fields={['otp']}
          value={otp}
          required
          autocomplete="one-time-code"
        />
        <ProblemNotice problem={problem.value} />
        <div class="row">
          <button type="submit" class={isDanger ? 'danger' : ''} disabled={isActing.value}>
            {title}
          </button>
        </div>
      </Form>
    </details>
  );
}

function Renew({ done }: { done: (codes: readonly string[]) => void }) {
  return (
    <Proof
      title="Create new recovery codes"
      why="The previous codes stop working."
      run={async (body) => {
        const renewed = await answer(api.POST('/api/v1/users/me/otp/recovery-codes', { body }));
        done('recoveryCodes' in renewed ? renewed.recoveryCodes : []);
      }}
    />
  );
}

function Remove({ done }: { done: () => void }) {
  return (
    <Proof
      title="Remove the second factor"
      why="The password alone signs you in again. Your other sessions end."
      isDanger
      run={async (body) => {
        await answer(api.POST('/api/v1/users/me/otp/disable', { body }));
        say('The second factor is removed.');
        done();
      }}
    />
  );
}
