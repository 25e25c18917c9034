import { useSignal, useSignalEffect } from '@preact/signals';
import type { ComponentType } from 'preact';
import { initialPassword, isSignedIn, lastUser, mustEnrol } from './api/session.ts';
import { ChoosePassword } from './pages/sign-in/choose-password.tsx';
import { SignIn } from './pages/sign-in/sign-in.tsx';
import { Shell } from './shell.tsx';
import { Messages } from './ui/message.tsx';

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

/** Its script is read where somebody is asked for it. */
function EnrolFactor() {
  const Found = useSignal<ComponentType | undefined>(undefined);
  useSignalEffect(() => {
    void import('./pages/sign-in/enrol-factor.tsx').then(({ default: Page }) => {
      Found.value = Page;
    });
  });
  return Found.value ? <Found.value /> : null;
}
