import { session } from '../../api/session.ts';
import { choosePassword, signOut } from '../../api/sign-in.ts';
import { useAct } from '../../ui/act.ts';
import { Brand } from '../../ui/brand.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';

/** Asks who signed in with an initial password for one of their own. */
export function ChoosePassword({ before }: { before: string }) {
  const { isActing, problem, act } = useAct();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    return act(() => choosePassword(before, String(form.get('new'))));
  };
  return (
    <main class="alone">
      <Brand />
      <h1>Choose a password</h1>
      <p>This account still has its initial password. Choose your own to go on.</p>
      <form class="stack" method="post" onSubmit={submit}>
        <label class="field">
          User name
          <input autocomplete="username" value={session.value?.username ?? ''} readOnly />
        </label>
        <label class="field">
          New password
          <input name="new" type="password" autocomplete="new-password" minLength={8} maxLength={256} required />
          <span class="hint dim">8 to 256 characters.</span>
        </label>
        <ProblemNotice problem={problem.value} />
        <div class="row">
          <button type="submit" class="primary" disabled={isActing.value}>
            Change password
          </button>
          <button type="button" class="quiet" onClick={signOut}>
            Sign out
          </button>
        </div>
      </form>
    </main>
  );
}
