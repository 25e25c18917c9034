import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Problem } from '../../api/problem.ts';
import { keepsSession, lastUser } from '../../api/session.ts';
import { signIn } from '../../api/sign-in.ts';
import { texts } from '../../texts/texts.ts';
import { useAct } from '../../ui/act.ts';
import { Brand } from '../../ui/brand.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';

/** The first page, and what an ended session asks for on top of any other. */
export function SignIn() {
  const asksForCode = useSignal(false);
  const code = useRef<HTMLInputElement>(null);
  const { isActing, problem, act } = useAct();
  useLayoutEffect(() => {
    document.title = `${texts.signIn.title} · ${texts.common.product}`;
  }, []);
  useLayoutEffect(() => {
    if (asksForCode.value) code.current?.focus();
  }, [asksForCode.value]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const field = (name: string) => String(form.get(name) ?? '');
    return act(async () => {
      try {
        await signIn({
          username: field('username'),
          password: field('password'),
          otp: field('otp').trim(),
          staySignedIn: form.has('stay'),
        });
      } catch (error) {
        if (error instanceof Problem && error.code === 'otp_required' && !asksForCode.value) asksForCode.value = true;
        else throw error;
      }
    });
  };
  return (
    <main class="alone">
      <Brand />
      <h1>{texts.signIn.title}</h1>
      {lastUser.value !== undefined && <p class="notice warn">{texts.signIn.again}</p>}
      {/* post, so that a page without its script never puts a password into an address */}
      <form class="stack" method="post" onSubmit={submit}>
        <label class="field">
          {texts.signIn.username}
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
          {texts.signIn.password}
          <input name="password" type="password" autocomplete="current-password" required />
        </label>
        {asksForCode.value && (
          <label class="field">
            {texts.signIn.otp}
            <input name="otp" autocomplete="one-time-code" inputMode="text" spellcheck={false} ref={code} required />
          </label>
        )}
        <label class="row">
          <input name="stay" type="checkbox" defaultChecked={keepsSession()} />
          {texts.signIn.stay}
        </label>
        <ProblemNotice problem={problem.value} />
        <button type="submit" class="primary" disabled={isActing.value}>
          {texts.signIn.submit}
        </button>
      </form>
    </main>
  );
}
