import { useSignal } from '@preact/signals';
import { Problem } from '../api/problem.ts';
import { TextField } from './field.tsx';

type NewPassword = ReturnType<typeof useNewPassword>;

/** A password that is typed twice. */
export function useNewPassword() {
  const [next, again] = [useSignal(''), useSignal('')];
  /** @throws Problem where the two differ */
  const typedTwice = () => {
    if (next.value === again.value) return next.value;
    const detail = 'The new passwords do not match.';
    throw new Problem({ title: detail, code: 'page', errors: [{ pointer: '/again', detail }] });
  };
  const clear = () => {
    for (const field of [next, again]) field.value = '';
  };
  return { next, again, typedTwice, clear };
}

export function NewPasswordFields({ of: { next, again } }: { of: NewPassword }) {
  return (
    <>
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
      <TextField
        label="Repeat new password"
        fields={['again']}
        type="password"
        value={again}
        required
        autocomplete="new-password"
      />
    </>
  );
}
