import { useSignal } from '@preact/signals';
import { answer, api } from './api/client.ts';
import { me } from './api/session.ts';
import { readMe } from './api/sign-in.ts';
import { goTo, hrefOf, route } from './route/route.ts';
import { texts } from './texts/texts.ts';
import { useAct } from './ui/act.ts';
import { TextField } from './ui/field.tsx';
import { Page } from './ui/page.tsx';
import { ProblemNotice } from './ui/problem.tsx';

/** In place of a page where the address names no workspace of this person: how to come to one. */
export function NoWorkspace() {
  if (!me.value) return <Page title={texts.shell.pages.home}>{null}</Page>;
  const { role, workspaces } = me.value;
  if (workspaces.length > 0) {
    return (
      <Page title={texts.shell.unknownWorkspace}>
        <p class="break">{texts.shell.wrongWorkspace(route.value.workspace)}</p>
        <p>
          <a href="#/">{texts.shell.home}</a>
        </p>
      </Page>
    );
  }
  if (role === 'platform_admin') return <FirstWorkspace />;
  return (
    <Page title={texts.shell.pages.home}>
      <p>{texts.shell.noWorkspace}</p>
    </Page>
  );
}

/** As many nodes as one network of the default size holds. */
const FIRST_NODE_COUNT = 250;

/** A new installation has none: the first thing that its administrator makes. */
function FirstWorkspace() {
  const name = useSignal('default');
  const { isActing, problem, act } = useAct();
  const make = (event: Event) => {
    event.preventDefault();
    return act(async () => {
      const slug = name.value.trim();
      const body = { slug, namespace: slug, displayName: slug, maxNodeCount: FIRST_NODE_COUNT };
      await answer(api.POST('/api/v1/workspaces/add', { body }));
      goTo(hrefOf({ workspace: slug }));
      await readMe();
    });
  };
  return (
    <Page title={texts.shell.firstWorkspace}>
      <form class="panel stack" onSubmit={make}>
        <p>{texts.shell.firstWorkspaceWhy}</p>
        <TextField
          label={texts.shell.workspaceName}
          hint={texts.shell.workspaceNameHint}
          value={name}
          required
          autocomplete="off"
        />
        <ProblemNotice problem={problem.value} />
        <div class="row">
          <button type="submit" class="primary" disabled={isActing.value}>
            {texts.shell.makeWorkspace}
          </button>
        </div>
      </form>
    </Page>
  );
}
