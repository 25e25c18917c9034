import type { ComponentType } from 'preact';
import { holds } from '../../api/workspace.ts';
import { linkTo, route } from '../../route/route.ts';
import { Page } from '../../ui/page.tsx';
import { PageTabs } from '../../ui/page-tabs.tsx';
import { Account } from './account/account.tsx';
import { People } from './people/people.tsx';
import './settings.css';
import { System } from './system/system.tsx';
import { Tokens } from './tokens/tokens.tsx';
import { Webhooks } from './webhooks/webhooks.tsx';
import { WorkspaceSettings } from './workspace/workspace-settings.tsx';
import { Workspaces } from './workspaces/workspaces.tsx';

interface Tab {
  readonly title: string;
  readonly Body: ComponentType;
  readonly scope?: string;
}

/** `#/<workspace>/settings/<tab>`; each asks for the scope that it needs to show anything. */
const TABS = {
  account: { title: 'My account', Body: Account },
  people: { title: 'People', Body: People, scope: 'network:read' },
  tokens: { title: 'API tokens', Body: Tokens },
  workspace: { title: 'Workspace', Body: WorkspaceSettings, scope: 'network:read' },
  webhooks: { title: 'Webhooks', Body: Webhooks, scope: 'members:write' },
  workspaces: { title: 'Workspaces', Body: Workspaces, scope: 'workspaces:write' },
  system: { title: 'System', Body: System },
} as const satisfies Record<string, Tab>;

type TabName = keyof typeof TABS;

export default function Settings() {
  const offered = (Object.keys(TABS) as TabName[]).filter((name) => {
    const { scope }: Tab = TABS[name];
    return !scope || holds(scope);
  });
  const current = offered.find((name) => name === route.value.rest[0]) ?? 'account';
  const { Body } = TABS[current];
  const tabs = offered.map((name) => ({ name, title: TABS[name].title, href: linkTo('settings', [name]) }));
  return (
    <Page title="Settings">
      <PageTabs label="Settings" tabs={tabs} current={current} />
      <Body key={current} />
    </Page>
  );
}
