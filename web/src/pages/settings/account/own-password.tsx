import { useSignal } from '@preact/signals';
import { Problem } from '../../../api/problem.ts';
import { session } from '../../../api/session.ts';
import { choosePassword } from '../../../api/sign-in.ts';
import { settings } from '../../../texts/settings.ts';
import { texts } from '../../../texts/texts.ts';
import { useAct } from '../../../ui/act.ts';
import { TextField } from '../../../ui/field.tsx';
import { say } from '../../../ui/message.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';

const words = settings.account;

export function OwnPassword() {
  const before = useSignal('');
  const next = useSignal('');
  const again = useSignal('');
  const { isActing, problem, act } = useAct();
  const submit = async (event: Event) => {
    event.preventDefault();
    const isDone = await act(async () => {
      if (next.value !== again.value) throw new Problem({ title: words.differs, code: 'page' });
      await choosePassword(before.value, next.value);
      say(words.passwordChanged);
    });
    if (isDone) for (const field of [before, next, again]) field.value = '';
  };
  return (
    <section class="stack" aria-labelledby="password">
      <h2 id="password">{words.password}</h2>
      <p class="dim">{words.passwordWhy}</p>
      <details>
        <summary>{texts.signIn.change}</summary>
        <form class="panel stack narrow" method="post" onSubmit={submit}>
          <input hidden autocomplete="username" value={session.value?.username ?? ''} readOnly />
          <TextField
            label={texts.signIn.oldPassword}
            type="password"
            value={before}
            required
            autocomplete="current-password"
          />
          <TextField
            label={texts.signIn.newPassword}
            hint={texts.signIn.rule}
            type="password"
            value={next}
            required
            minLength={8}
            maxLength={256}
            autocomplete="new-password"
          />
          <TextField label={words.repeat} type="password" value={again} required autocomplete="new-password" />
          <ProblemNotice problem={problem.value} />
          <div class="row">
            <button type="submit" disabled={isActing.value}>
              {texts.signIn.change}
            </button>
          </div>
        </form>
      </details>
    </section>
  );
}
