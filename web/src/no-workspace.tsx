import { me } from './api/session.ts';
import { titleOf } from './pages/names.ts';
import { route } from './route/route.ts';
import { SetupFrame, stepsOf } from './setup.tsx';
import { Page } from './ui/page.tsx';
import { WorkspaceForm } from './workspace-form.tsx';

/** In place of a page where the address names no workspace of this person: how to come to one. */
export function NoWorkspace() {
  if (!me.value) return <Page title={titleOf('home')}>{null}</Page>;
  const { role, workspaces } = me.value;
  if (workspaces.length > 0) {
    return (
      <Page title="No such workspace">
        <p class="break">
          You are a member of no workspace {route.value.workspace}. Perhaps it has another name by now.
        </p>
        <p>
          <a href="#/">Back to Home</a>
        </p>
      </Page>
    );
  }
  // A new installation has none: the first thing that its administrator makes.
  if (role === 'platform_admin') {
    return (
      <SetupFrame current="workspace" steps={stepsOf()}>
        <WorkspaceForm isFirst />
      </SetupFrame>
    );
  }
  return (
    <Page title={titleOf('home')}>
      <p>You are a member of no workspace. Ask an administrator to add you.</p>
    </Page>
  );
}
