import { initialPassword, isSignedIn, lastUser, mustEnrol } from './api/session.ts';
import { ChoosePassword } from './pages/sign-in/choose-password.tsx';
import { SignIn } from './pages/sign-in/sign-in.tsx';
import { Shell } from './shell.tsx';
import { Messages } from './ui/message.tsx';
import { readLater } from './ui/read-later.tsx';

const EnrolFactor = readLater(async () => (await import('./pages/sign-in/enrol-factor.tsx')).default);

/** A session that ended asks for the password above the page: what was typed below it stays until another person signs in. */
export function App() {
  const password = initialPassword.value;
  const mayWork = isSignedIn.value && password === undefined && !mustEnrol.value;
  const user = lastUser.value;
  return (
    <>
      {!isSignedIn.value && <SignIn />}
      {isSignedIn.value && password !== undefined && <ChoosePassword before={password} />}
      {isSignedIn.value && password === undefined && mustEnrol.value && <EnrolFactor />}
      {user !== undefined && (
        <div key={user} hidden={!mayWork}>
          <Shell />
        </div>
      )}
      <Messages />
    </>
  );
}
