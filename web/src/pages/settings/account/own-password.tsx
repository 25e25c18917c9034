import { useSignal } from '@preact/signals';
import { Problem } from '../../../api/problem.ts';
import { session } from '../../../api/session.ts';
import { choosePassword } from '../../../api/sign-in.ts';
import { useAct } from '../../../ui/act.ts';
import { TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { say } from '../../../ui/message.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';

export function OwnPassword() {
  const before = useSignal('');
  const next = useSignal('');
  const again = useSignal('');
  const { isActing, problem, act } = useAct();
  const submit = async (event: Event) => {
    event.preventDefault();
    const isDone = await act(async () => {
      if (next.value !== again.value) throw new Problem({ title: 'The new passwords do not match.', code: 'page' });
      await choosePassword(before.value, next.value);
      say('The password is changed. Every other session ended.');
    });
    if (isDone) for (const field of [before, next, again]) field.value = '';
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
          <TextField
            label="New password"
            hint="8 to 256 characters."
            type="password"
            value={next}
            required
            minLength={8}
            maxLength={256}
            autocomplete="new-password"
          />
          <TextField label="Repeat new password" type="password" value={again} required autocomplete="new-password" />
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
