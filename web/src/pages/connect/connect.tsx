import { linkTo } from '../../route/route.ts';
import { Page } from '../../ui/page.tsx';
import { PAGE_NAMES } from '../names.ts';
import { ConnectAgent } from './connect-agent.tsx';

export default function Connect() {
  return (
    <Page title={PAGE_NAMES.connect.title} actions={<a href={linkTo('agents')}>All agents</a>}>
      <ConnectAgent />
    </Page>
  );
}
