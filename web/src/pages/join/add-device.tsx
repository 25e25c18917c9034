import { useSignal } from '@preact/signals';
import { Invitation } from './invitation.tsx';
import './join.css';
import { JoinForm, type JoinToken } from './join-form.tsx';

/** Creates a join token, shows it once, and tells who joins with it. The token lives as long as this is shown. */
export function AddDevice() {
  const issued = useSignal<JoinToken | undefined>(undefined);
  if (!issued.value) return <JoinForm made={(token) => (issued.value = token)} />;
  return <Invitation issued={issued.value} another={() => (issued.value = undefined)} />;
}
