import { useSignal } from '@preact/signals';
import { linkTo } from '../../route/route.ts';
import { connect as words } from '../../texts/connect.ts';
import { Page } from '../../ui/page.tsx';
import { ConnectForm } from './connect-form.tsx';
import './connect.css';
import { type Issued, IssuedToken } from './issued-token.tsx';

/** Gives an agent, or a client of one's own, its token and the configuration to copy. The token lives as long as this page. */
export default function Connect() {
  const issued = useSignal<Issued | undefined>(undefined);
  return (
    <Page title={words.title} actions={<a href={linkTo('agents')}>{words.toAgents}</a>}>
      {issued.value ? (
        <IssuedToken
          issued={issued.value}
          another={() => {
            issued.value = undefined;
          }}
        />
      ) : (
        <ConnectForm
          made={(token) => {
            issued.value = token;
          }}
        />
      )}
    </Page>
  );
}
