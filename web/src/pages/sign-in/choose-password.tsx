import { session } from '../../api/session.ts';
import { choosePassword, signOut } from '../../api/sign-in.ts';
import { texts } from '../../texts/texts.ts';
import { useAct } from '../../ui/act.ts';
import { Brand } from '../../ui/brand.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';

export function ChoosePassword() {
  const { isActing, problem, act } = useAct();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    return act(() => choosePassword(String(form.get('old')), String(form.get('new'))));
  };
  return (
    <main class="alone">
      <Brand />
      <h1>{texts.signIn.choose}</h1>
      <p>{texts.signIn.chooseWhy}</p>
      <form class="stack" method="post" onSubmit={submit}>
        <label class="field">
          {texts.signIn.username}
          <input autocomplete="username" value={session.value?.username ?? ''} readOnly />
        </label>
        <label class="field">
          {texts.signIn.oldPassword}
          <input name="old" type="password" autocomplete="current-password" required />
        </label>
        <label class="field">
          {texts.signIn.newPassword}
          <input name="new" type="password" autocomplete="new-password" minLength={8} maxLength={256} required />
          <span class="hint dim">{texts.signIn.rule}</span>
        </label>
        <ProblemNotice problem={problem.value} />
        <div class="row">
          <button type="submit" class="primary" disabled={isActing.value}>
            {texts.signIn.change}
          </button>
          <button type="button" class="quiet" onClick={signOut}>
            {texts.signIn.out}
          </button>
        </div>
      </form>
    </main>
  );
}
