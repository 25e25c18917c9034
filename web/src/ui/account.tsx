import { session } from '../api/session.ts';
import { signOut } from '../api/sign-in.ts';
import { texts } from '../texts/texts.ts';
import { ThemeSwitch } from './theme.tsx';

/** Who is signed in, and what that person sets for this browser. */
export function Account() {
  return (
    <>
      <ThemeSwitch />
      <span class="dim break">{session.value?.username}</span>
      <button type="button" class="quiet" onClick={() => signOut().catch(() => undefined)}>
        {texts.signIn.out}
      </button>
    </>
  );
}
