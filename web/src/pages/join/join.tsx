import { useSignal } from '@preact/signals';
import { may } from '../../api/workspace.ts';
import { texts } from '../../texts/texts.ts';
import { Page } from '../../ui/page.tsx';
import { Invitation } from './invitation.tsx';
import './join.css';
import { type JoinToken, JoinForm } from './join-form.tsx';
import { JoinTokens } from './join-tokens.tsx';

/** Makes join tokens, shows each once, and tells who joins with it. The token lives as long as this page is open. */
export default function Join() {
  const issued = useSignal<JoinToken | undefined>(undefined);
  return (
    <Page title={texts.join.title}>
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
