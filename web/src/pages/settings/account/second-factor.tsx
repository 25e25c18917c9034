import { useSignal } from '@preact/signals';
import { answer, api } from '../../../api/client.ts';
import { useLoaded } from '../../../api/load.ts';
import { Chip } from '../../../design/chip.tsx';
import { ReadResult } from '../../../ui/read-result.tsx';
import { Time } from '../../../ui/time.tsx';
import { Enrol } from './enrol.tsx';
import { sayOthersEnded } from './others-ended.ts';
import { AddPasskey, PasskeyList } from './passkeys.tsx';
import { type Factor, ProofForm } from './proof.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';

/** The second factor of the person, an app or passkeys: to turn on, to renew its recovery codes, to remove. Codes are shown once. */
export function SecondFactor() {
  const codes = useSignal<readonly string[] | undefined>(undefined);
  const loaded = useLoaded(() => answer(api.GET('/api/v1/users/me/otp')), { live: false });
  const { value, reload } = loaded.value;
  const show = (shown: readonly string[]) => {
    if (shown.length > 0) codes.value = shown;
    reload();
  };
  const isOn = value !== undefined && (value.enrolled || value.passkeys.length > 0);
  return (
    <section class="stack" aria-labelledby="factor">
      <h2 id="factor">Second factor and passkeys</h2>
      <ReadResult of={loaded.value} />
      {/* What it was set up with goes when the codes come, not when it is read that it is on. */}
      {value && !isOn && !codes.value && (
        <p>
          Off. Your password alone signs you in.{' '}
          {value.required && <strong>This installation requires one for administrators.</strong>}
        </p>
      )}
      {isOn && (
        <p>
          <Chip tone="ok">● On since</Chip> <Time at={value.since} /> {value.recoveryCodesLeft} recovery{' '}
          {value.recoveryCodesLeft === 1 ? 'code' : 'codes'} left.
        </p>
      )}
      {codes.value && <RecoveryCodes codes={codes.value} done={() => (codes.value = undefined)} />}
      {value && isOn && <PasskeyList factor={value} passkeys={value.passkeys} done={reload} />}
      {value && !codes.value && (
        <div class="stack-small">
          <AddPasskey factor={value} done={show} />
          {!value.enrolled && <Enrol factor={value} done={show} />}
          {isOn && <Renew factor={value} done={show} />}
          {value.enrolled && <Remove factor={value} done={reload} />}
        </div>
      )}
    </section>
  );
}

function Renew({ factor, done }: { factor: Factor; done: (codes: readonly string[]) => void }) {
  return (
    <ProofForm
      title="Create new recovery codes"
      why="The previous codes stop working."
      factor={factor}
      run={async (body) => {
        const renewed = await answer(api.POST('/api/v1/users/me/otp/recovery-codes', { body }));
        done('recoveryCodes' in renewed ? renewed.recoveryCodes : []);
      }}
    />
  );
}

function Remove({ factor, done }: { factor: Factor; done: () => void }) {
  const hasOther = factor.passkeys.length > 0;
  return (
    <ProofForm
      title={hasOther ? 'Remove the authenticator app' : 'Remove the second factor'}
      why={`${hasOther ? 'Your passkeys stay.' : 'The password alone signs you in again.'} Your other sessions end.`}
      factor={factor}
      isDanger
      run={async (body) => {
        await answer(api.POST('/api/v1/users/me/otp/disable', { body }));
        sayOthersEnded('The second factor is removed.');
        done();
      }}
    />
  );
}
