import { session } from '../../api/session.ts';
import { choosePassword, signOut } from '../../api/sign-in.ts';
import { useAct } from '../../ui/act.ts';
import { Brand } from '../../ui/brand.tsx';
import { Form } from '../../ui/form.tsx';
import { NewPasswordFields, useNewPassword } from '../../ui/new-password.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';

/** Asks who signed in with an initial password for one of their own. */
export function ChoosePassword({ before }: { before: string }) {
  const password = useNewPassword();
  const { isActing, problem, act } = useAct();
  const submit = (event: Event) => {
    event.preventDefault();
    return act(async () => choosePassword(before, password.typedTwice()));
  };
  return (
    <main class="alone">
      <Brand />
      <h1>Choose a password</h1>
      <p>This account still has its initial password. Choose your own to go on.</p>
      <Form problem={problem} class="stack" method="post" onSubmit={submit}>
        <label class="field">
          User name
          <input autocomplete="username" value={session.value?.username ?? ''} readOnly />
        </label>
        <NewPasswordFields of={password} />
        <ProblemNotice problem={problem.value} />
        <div class="row">
          <button type="submit" class="primary" disabled={isActing.value}>
            Change password
          </button>
          <button type="button" class="quiet" onClick={signOut}>
            Sign out
          </button>
        </div>
      </Form>
    </main>
  );
}
