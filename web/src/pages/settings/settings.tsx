import type { ComponentType } from 'preact';
import { holds } from '../../api/workspace.ts';
import { linkTo, route } from '../../route/route.ts';
import { settings } from '../../texts/settings.ts';
import { Page } from '../../ui/page.tsx';
import { PageTabs } from '../../ui/page-tabs.tsx';
import { Account } from './account/account.tsx';
import { People } from './people/people.tsx';
import './settings.css';
import { System } from './system/system.tsx';
import { Tokens } from './tokens/tokens.tsx';
import { Webhooks } from './webhooks/webhooks.tsx';
import { WorkspaceSettings } from './workspace/workspace-settings.tsx';

type TabName = keyof typeof settings.tabs;

/** `#/<workspace>/settings/<tab>`; each asks for the scope that it needs to show anything. */
const TABS: Record<TabName, { readonly Body: ComponentType; readonly scope?: string }> = {
  account: { Body: Account },
  people: { Body: People, scope: 'network:read' },
  tokens: { Body: Tokens },
  workspace: { Body: WorkspaceSettings, scope: 'network:read' },
  webhooks: { Body: Webhooks, scope: 'members:write' },
  system: { Body: System },
};

export default function Settings() {
  const offered = (Object.keys(TABS) as TabName[]).filter((name) => {
    const { scope } = TABS[name];
    return !scope || holds(scope);
  });
  const current = offered.find((name) => name === route.value.rest[0]) ?? 'account';
  const { Body } = TABS[current];
  const tabs = offered.map((name) => ({ name, title: settings.tabs[name], href: linkTo('settings', [name]) }));
  return (
    <Page title={settings.title}>
      <PageTabs label={settings.title} tabs={tabs} current={current} />
      <Body key={current} />
    </Page>
  );
}
