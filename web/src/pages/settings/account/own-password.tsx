import { useSignal } from '@preact/signals';
import { session } from '../../../api/session.ts';
import { choosePassword } from '../../../api/sign-in.ts';
import { useAct } from '../../../ui/act.ts';
import { TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { NewPasswordFields, useNewPassword } from '../../../ui/new-password.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import { sayOthersEnded } from './others-ended.ts';

export function OwnPassword() {
  const before = useSignal('');
  const password = useNewPassword();
  const { isActing, problem, act } = useAct();
  const submit = async (event: Event) => {
    event.preventDefault();
    const isDone = await act(async () => {
      await choosePassword(before.value, password.typedTwice());
      sayOthersEnded('The password is changed. Every other session ended.');
    });
    if (!isDone) return;
    before.value = '';
    password.clear();
  };
  return (
    <section class="stack" aria-labelledby="password">
      <h2 id="password">Password</h2>
      <p class="dim">Ends all other sessions and every API token of this account.</p>
      <details>
        <summary>Change password</summary>
        <Form problem={problem} class="panel stack narrow" method="post" onSubmit={submit}>
          <input hidden autocomplete="username" value={session.value?.username ?? ''} readOnly />
          <TextField
            label="Current password"
            fields={['oldPassword']}
            type="password"
            value={before}
            required
            autocomplete="current-password"
          />
          <NewPasswordFields of={password} />
          <ProblemNotice problem={problem.value} />
          <div class="row">
            <button type="submit" disabled={isActing.value}>
              Change password
            </button>
          </div>
        </Form>
      </details>
    </section>
  );
}
