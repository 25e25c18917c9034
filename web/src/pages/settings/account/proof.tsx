import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { type Proof, passkeyObstacle, showPasskey } from '../../../api/passkeys.ts';
import { useAct } from '../../../ui/act.ts';
import { TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';

/** The second factor that an account has. */
export interface Factor {
  readonly enrolled: boolean;
  readonly passkeys: readonly { readonly id: string; readonly name: string; readonly host: string }[];
}

interface ProofFormProps {
  readonly title: string;
  readonly why: string;
  readonly factor: Factor;
  /** Text of the button; the title unless given. */
  readonly act?: string;
  readonly isOpen?: boolean | undefined;
  readonly isDanger?: boolean;
  /** Other fields. */
  readonly children?: ComponentChildren;
  readonly run: (proof: Proof) => Promise<unknown>;
}

/** Asks for the password, and for the second factor where there is one, before something about how the person signs in changes. A passkey replaces both. */
export function ProofForm({ title, why, factor, act: label = title, isOpen, isDanger, children, run }: ProofFormProps) {
  const [password, otp] = [useSignal(''), useSignal('')];
  const { isActing, problem, act } = useAct();
  const hasPasskey = factor.passkeys.some(({ host }) => host === location.hostname) && !passkeyObstacle();
  const hasFactor = factor.enrolled || factor.passkeys.length > 0;
  const submit = async (event: Event) => {
    event.preventDefault();
    const proof = { password: password.value, ...(hasFactor && { otp: otp.value.trim() }) };
    if (await act(() => run(proof))) for (const field of [password, otp]) field.value = '';
  };
  return (
    <details open={isOpen}>
      <summary>{title}</summary>
      <Form problem={problem} class="panel stack narrow" method="post" onSubmit={submit}>
        <p>{why}</p>
        {children}
        <TextField
          label="Your password"
          fields={['password']}
          type="password"
          value={password}
          required
          autocomplete="current-password"
        />
        {hasFactor && (
          <TextField
            label={factor.enrolled ? 'Code of the app, or a recovery code' : 'A recovery code'}
            fields={['otp']}
            value={otp}
            required
            autocomplete="one-time-code"
          />
        )}
        <ProblemNotice problem={problem.value} />
        <div class="row">
          <button type="submit" class={isDanger ? 'danger' : ''} disabled={isActing.value}>
            {label}
          </button>
          {hasPasskey && (
            <button
              type="button"
              disabled={isActing.value}
              onClick={() => act(async () => run({ passkey: await showPasskey() }))}
            >
              Use a passkey
            </button>
          )}
        </div>
      </Form>
    </details>
  );
}
