import { useSignal } from '@preact/signals';
import { answer, api } from './api/client.ts';
import { readMe } from './api/sign-in.ts';
import { goTo, hrefOf } from './route/route.ts';
import { useAct } from './ui/act.ts';
import { TextField } from './ui/field.tsx';
import { Form } from './ui/form.tsx';
import { say } from './ui/message.tsx';
import { ProblemNotice } from './ui/problem.tsx';

/** As many nodes as one network of the default size holds. */
const NODE_COUNT = 250;

/** Creates a workspace and opens it. */
export function WorkspaceForm({ isFirst = false }: { isFirst?: boolean }) {
  const name = useSignal(isFirst ? 'default' : '');
  const { isActing, problem, act } = useAct();
  const create = (event: Event) => {
    event.preventDefault();
    return act(async () => {
      const slug = name.value.trim();
      const body = { slug, namespace: slug, displayName: slug, maxNodeCount: NODE_COUNT };
      await answer(api.POST('/api/v1/workspaces/add', { body }));
      await readMe();
      goTo(hrefOf({ workspace: slug, page: isFirst ? 'setup' : '' }));
      if (!isFirst) say(`The workspace ${slug} is created.`);
    });
  };
  return (
    <Form problem={problem} class="panel stack" onSubmit={create}>
      <p>A workspace is one private network, with its peers, policies, agents and the people who decide.</p>
      <TextField
        label="Name of the workspace"
        fields={['namespace', 'slug', 'displayName']}
        hint="Used in URLs and commands: lowercase letters, digits and hyphens."
        value={name}
        required
        autocomplete="off"
      />
      <ProblemNotice problem={problem.value} />
      <div class="row">
        <button type="submit" class="primary" disabled={isActing.value}>
          Create workspace
        </button>
      </div>
    </Form>
  );
}
