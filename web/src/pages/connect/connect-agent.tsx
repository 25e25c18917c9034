import { useSignal } from '@preact/signals';
import { may } from '../../api/workspace.ts';
import { ConnectForm } from './connect-form.tsx';
import './connect.css';
import { type Issued, IssuedToken } from './issued-token.tsx';
import { SignInSteps } from './sign-in-steps.tsx';

/**
 * Gives an agent the address at which it signs in by itself; else, or a client of one's own, its token and the configuration to
 * copy. The token lives as long as this is shown.
 */
export function ConnectAgent() {
  const issued = useSignal<Issued | undefined>(undefined);
  if (issued.value) return <IssuedToken issued={issued.value} another={() => (issued.value = undefined)} />;
  return (
    <div class="stack">
      {may('agents:write') && <SignInSteps />}
      <ConnectForm made={(token) => (issued.value = token)} />
    </div>
  );
}
