import { isSignedIn, lastUser, mustChangePassword } from './api/session.ts';
import { ChoosePassword } from './pages/sign-in/choose-password.tsx';
import { SignIn } from './pages/sign-in/sign-in.tsx';
import { Shell } from './shell.tsx';
import { Messages } from './ui/message.tsx';

/** A session that ended asks for the password above the page: what was typed below it stays until another person signs in. */
export function App() {
  const mayWork = isSignedIn.value && !mustChangePassword.value;
  const user = lastUser.value;
  return (
    <>
      {!isSignedIn.value && <SignIn />}
      {isSignedIn.value && mustChangePassword.value && <ChoosePassword />}
      {user !== undefined && (
        <div key={user} hidden={!mayWork}>
          <Shell />
        </div>
      )}
      <Messages />
    </>
  );
}
