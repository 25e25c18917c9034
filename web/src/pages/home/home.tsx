import { may } from '../../api/workspace.ts';
import { home as words } from '../../texts/home.ts';
import { Page } from '../../ui/page.tsx';
import { AgentsAtWork } from './agents-at-work.tsx';
import { Changes } from './changes.tsx';
import { Compliance } from './compliance.tsx';
import { Glance } from './glance.tsx';
import './home.css';
import { Waiting } from './waiting.tsx';

/** What a person sees first. Each part is asked for by itself and drawn as it comes. */
export default function Home() {
  if (!may('network:read')) return <Page title={words.title}>{null}</Page>;
  return (
    <Page title={words.title}>
      <Glance first={<Waiting />}>
        <Changes />
        <AgentsAtWork />
        {may('compliance:assess') && <Compliance />}
      </Glance>
    </Page>
  );
}
