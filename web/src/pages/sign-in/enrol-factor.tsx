import { useSignal } from '@preact/signals';
import { mustEnrol } from '../../api/session.ts';
import { readMe, signOut } from '../../api/sign-in.ts';
import { useAct } from '../../ui/act.ts';
import { Brand } from '../../ui/brand.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';
import { Enrol } from '../settings/account/enrol.tsx';
import { AddPasskey } from '../settings/account/passkeys.tsx';
import { RecoveryCodes } from '../settings/account/recovery-codes.tsx';
import '../settings/settings.css';

const NO_FACTOR = { enrolled: false, passkeys: [] };

/** Where the control plane asks administrators for a second factor: nothing else can be done before there is one. */
export default function EnrolFactor() {
  const codes = useSignal<readonly string[] | undefined>(undefined);
  const { isActing, problem, act } = useAct();
  const goOn = () =>
    act(async () => {
      await readMe();
      mustEnrol.value = false;
    });
  return (
    <main class="alone wider">
      <Brand />
      <h1>Set up a second factor</h1>
      <p>
        Who administers this control plane signs in with a code of an app beside the password, or with a passkey. Set
        one up to go on.
      </p>
      {codes.value ? (
        <RecoveryCodes codes={codes.value} done={goOn} />
      ) : (
        <>
          <Enrol factor={NO_FACTOR} isOpen done={(shown) => (codes.value = shown)} />
          <AddPasskey factor={NO_FACTOR} done={(shown) => (codes.value = shown)} />
        </>
      )}
      <ProblemNotice problem={problem.value} />
      {!codes.value && (
        <div class="row">
          <button type="button" class="quiet" disabled={isActing.value} onClick={signOut}>
            Sign out
          </button>
        </div>
      )}
    </main>
  );
}
