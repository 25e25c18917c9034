import { useSignal } from '@preact/signals';
import { may } from '../../api/workspace.ts';
import { join as words } from '../../texts/join.ts';
import { Page } from '../../ui/page.tsx';
import { Invitation } from './invitation.tsx';
import './join.css';
import { JoinForm, type JoinToken } from './join-form.tsx';
import { JoinTokens } from './join-tokens.tsx';

/** Makes join tokens, shows each once, and tells who joins with it. The token lives as long as this page is open. */
export default function Join() {
  const issued = useSignal<JoinToken | undefined>(undefined);
  return (
    <Page title={words.title}>
      {issued.value ? (
        <Invitation
          issued={issued.value}
          another={() => {
            issued.value = undefined;
          }}
        />
      ) : (
        <JoinForm
          made={(token) => {
            issued.value = token;
          }}
        />
      )}
      {may('tokens:write') && <JoinTokens />}
    </Page>
  );
}
