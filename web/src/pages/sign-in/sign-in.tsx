import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { issuerProblem } from '../../api/issuers.ts';
import { passkeyObstacle, showPasskey, signInWithPasskey } from '../../api/passkeys.ts';
import { Problem } from '../../api/problem.ts';
import { keepsSession, lastUser } from '../../api/session.ts';
import { signIn } from '../../api/sign-in.ts';
import { useAct } from '../../ui/act.ts';
import { Brand } from '../../ui/brand.tsx';
import { Form } from '../../ui/form.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';
import { IssuerButtons } from './issuer-buttons.tsx';
import { useIssuers } from './use-issuers.ts';

/** The first page, and what an ended session asks for on top of any other. */
export function SignIn() {
  const asksForCode = useSignal(false);
  const stays = useSignal(keepsSession());
  const { issuers, passwords } = useIssuers();
  const code = useRef<HTMLInputElement>(null);
  const { isActing, problem, act } = useAct();
  useLayoutEffect(() => {
    document.title = 'Sign in · Mesh';
  }, []);
  useLayoutEffect(() => {
    if (asksForCode.value) code.current?.focus();
  }, [asksForCode.value]);
  /** @param takePasskey in place of a code */
  const enterWith = (form: HTMLFormElement, takePasskey?: typeof showPasskey) => {
    const fields = new FormData(form);
    const field = (name: string) => String(fields.get(name) ?? '');
    issuerProblem.value = undefined;
    return act(async () => {
      try {
        await signIn({
          username: field('username'),
          password: field('password'),
          ...(takePasskey ? { passkey: await takePasskey() } : { otp: field('otp').trim() }),
          staySignedIn: stays.value,
        });
      } catch (error) {
        if (error instanceof Problem && error.code === 'otp_required' && !asksForCode.value) asksForCode.value = true;
        else throw failed(error);
      }
    });
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    return enterWith(event.currentTarget as HTMLFormElement);
  };
  const usePasskey = ({ currentTarget: { form } }: { currentTarget: HTMLButtonElement }) => {
    issuerProblem.value = undefined;
    if (form && asksForCode.value) return enterWith(form, showPasskey);
    return act(() => signInWithPasskey(stays.value).catch((error: unknown) => Promise.reject(failed(error))));
  };
  const stay = (
    <label class="row">
      <input
        name="stay"
        type="checkbox"
        checked={stays.value}
        onChange={(event) => (stays.value = event.currentTarget.checked)}
      />
      Stay signed in on this browser
    </label>
  );
  // post, so that a page without its script never puts a password into an address
  const form = (
    <Form problem={problem} class="stack" method="post" onSubmit={submit}>
      <label class="field">
        User name
        <input
          name="username"
          autocomplete="username"
          autocapitalize="none"
          spellcheck={false}
          defaultValue={lastUser.value ?? ''}
          required
        />
      </label>
      <label class="field">
        Password
        <input name="password" type="password" autocomplete="current-password" required />
      </label>
      {asksForCode.value && (
        <label class="field">
          Code of your second factor, or a recovery code
          <input name="otp" autocomplete="one-time-code" inputMode="text" spellcheck={false} ref={code} required />
        </label>
      )}
      {passwords && stay}
      <ProblemNotice problem={problem.value} />
      <button type="submit" class="primary" disabled={isActing.value}>
        Sign in
      </button>
      {!passkeyObstacle() && (
        <button type="button" disabled={isActing.value} onClick={usePasskey}>
          {asksForCode.value ? 'Use a passkey' : 'Sign in with a passkey'}
        </button>
      )}
    </Form>
  );
  return (
    <main class="alone">
      <Brand />
      <h1>Sign in</h1>
      {lastUser.value !== undefined && (
        <p class="notice warn">Your session ended. Sign in to go on; what you typed is still here.</p>
      )}
      <ProblemNotice problem={issuerProblem.value} />
      {passwords && form}
      {!passwords && stay}
      <IssuerButtons issuers={issuers} stays={() => stays.value} />
      {!passwords && (
        <details>
          <summary>Sign in with a password</summary>
          {form}
        </details>
      )}
    </main>
  );
}

/** What a credential was refused with, under a heading for who is signing in: elsewhere the code means that nobody is. */
function failed(error: unknown): unknown {
  if (!(error instanceof Problem) || error.code !== 'unauthenticated') return error;
  const { message: detail, code, status, errors, requestId } = error;
  return new Problem({ title: 'Sign-in failed', detail, code, status, errors, ...(requestId && { requestId }) });
}
