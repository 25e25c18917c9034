import { useSignal } from '@preact/signals';
import { answer, api } from '../../../api/client.ts';
import { addPasskey, passkeyObstacle } from '../../../api/passkeys.ts';
import { browserName } from '../../../api/sign-in.ts';
import { TextField } from '../../../ui/field.tsx';
import { Time } from '../../../ui/time.tsx';
import { sayOthersEnded } from './others-ended.ts';
import { type Factor, ProofForm } from './proof.tsx';

/** Adds a passkey, where this page can use one. */
export function AddPasskey({ factor, done }: { factor: Factor; done: (codes: readonly string[]) => void }) {
  const name = useSignal(browserName());
  const obstacle = passkeyObstacle();
  if (obstacle !== undefined) return <p class="dim">{obstacle}</p>;
  return (
    <ProofForm
      title="Add a passkey"
      why={`This device, a phone or a security key then signs you in to ${location.hostname} without a password.`}
      act="Continue"
      factor={factor}
      run={async (proof) => {
        const codes = await addPasskey(name.value.trim(), proof);
        sayOthersEnded('The passkey is added. Your other sessions ended.');
        done(codes);
      }}
    >
      <TextField label="Name of the passkey" value={name} required maxLength={63} />
    </ProofForm>
  );
}

type Passkey = Factor['passkeys'][number] & { readonly createdAt: string };

/** The passkeys of the person, each to remove. */
export function PasskeyList({
  factor,
  passkeys,
  done,
}: {
  factor: Factor;
  passkeys: readonly Passkey[];
  done: () => void;
}) {
  return (
    <ul class="lines" aria-label="Passkeys">
      {passkeys.map(({ id, name, host, createdAt }) => (
        <li key={id} class="stack-small">
          <span>
            <strong class="break">{name}</strong> for <code class="break">{host}</code>, added <Time at={createdAt} />
          </span>
          <ProofForm
            title={`Remove ${name}`}
            why="It signs in no more. Your other sessions end. Recovery codes end with your last factor."
            act="Remove"
            factor={factor}
            isDanger
            run={async (proof) => {
              await answer(api.POST('/api/v1/users/me/passkeys/remove', { body: { id, ...proof } }));
              sayOthersEnded('The passkey is removed.');
              done();
            }}
          />
        </li>
      ))}
    </ul>
  );
}
