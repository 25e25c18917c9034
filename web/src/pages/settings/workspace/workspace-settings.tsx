import { useSignal } from '@preact/signals';
import { answer, api } from '../../../api/client.ts';
import { useLoaded } from '../../../api/load.ts';
import { readMe } from '../../../api/sign-in.ts';
import type { WorkspaceDetail } from '../../../api/types.ts';
import { may, workspaceId } from '../../../api/workspace.ts';
import { WAITS, write } from '../../../api/write.ts';
import { goTo } from '../../../route/route.ts';
import { useAct } from '../../../ui/act.ts';
import { CopyButton } from '../../../ui/copy.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { Facts } from '../../../ui/facts.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { say } from '../../../ui/message.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import { ReadResult } from '../../../ui/read-result.tsx';
import { Time } from '../../../ui/time.tsx';
import { Approval } from './approval.tsx';
import { ComplianceSettings } from './compliance-settings.tsx';

/** The settings of the workspace; who may not change them sees them as they are. */
export function WorkspaceSettings() {
  const loaded = useLoaded(() => {
    const params = { path: { workspaceId: workspaceId.value ?? '' } };
    return answer(api.GET('/api/v1/workspaces/{workspaceId}', { params }));
  });
  return <ReadResult of={loaded.value}>{(workspace) => <Sections workspace={workspace} />}</ReadResult>;
}

function Sections({ workspace: value }: Props) {
  // What is being typed is taken away by a change of what it stands for alone.
  const { compliance, reviews, timeZone, ...approval } = value.settings;
  const keyOf = (...parts: readonly unknown[]) => JSON.stringify(parts);
  return (
    <>
      {!may('members:write') && <p class="notice">Only workspace administrators can change these settings.</p>}
      <General key={keyOf('general', value.displayName, value.maxNodeCount, timeZone)} workspace={value} />
      <Approval key={keyOf('approval', approval)} settings={value.settings} id={value.id} />
      <ComplianceSettings key={keyOf('compliance', compliance, reviews)} settings={value.settings} id={value.id} />
      {may('workspaces:write') && <Delete workspace={value} />}
    </>
  );
}

function General({ workspace: { id, slug, namespace, displayName, maxNodeCount, settings, createdAt } }: Props) {
  const name = useSignal(displayName);
  const most = useSignal(String(maxNodeCount));
  const timeZone = useSignal(settings.timeZone);
  const { isActing, problem, act } = useAct();
  const isSame =
    name.value === displayName && most.value === String(maxNodeCount) && timeZone.value === settings.timeZone;
  const mayLimit = may('workspaces:write');
  const submit = (event: Event) => {
    event.preventDefault();
    const body = {
      displayName: name.value,
      settings: { timeZone: timeZone.value },
      ...(mayLimit && { maxNodeCount: Number(most.value) }),
    };
    return act(async () => {
      const params = { path: { workspaceId: id } };
      await write(api.PATCH('/api/v1/workspaces/{workspaceId}', { params, body }), 'The settings are saved.');
      if (name.value !== displayName) await readMe();
    });
  };
  return (
    <section class="stack" aria-labelledby="general">
      <h2 id="general">Workspace</h2>
      <Facts
        facts={[
          ['Display name', !may('members:write') && displayName],
          ['Short name (used in URLs)', <code key="slug">{slug}</code>],
          ['Namespace', <code key="namespace">{namespace}</code>],
          ['Id', [<code key="id">{id}</code>, ' ', <CopyButton key="copy" text={id} />]],
          ['Peer limit', !mayLimit && maxNodeCount],
          ['Time zone', !may('members:write') && settings.timeZone],
          ['Created', <Time key="created" at={createdAt} />],
        ]}
      />
      {may('members:write') && (
        <Form problem={problem} class="stack narrow" onSubmit={submit}>
          <TextField label="Display name" value={name} required autocomplete="off" />
          <TextField
            label="Time zone"
            hint="Such as Europe/Zurich. Times of orders, policies and questions are read by its clocks; the daily snapshot is at 02:00."
            value={timeZone}
            required
            autocomplete="off"
          />
          {mayLimit && (
            <TextField
              label="Peer limit"
              fields={['maxNodeCount']}
              type="number"
              min={1}
              max={1_000_000}
              value={most}
              required
            />
          )}
          <ProblemNotice problem={problem.value} />
          <div class="row">
            <button type="submit" disabled={isActing.value || isSame}>
              Save
            </button>
          </div>
        </Form>
      )}
    </section>
  );
}

interface Props {
  readonly workspace: WorkspaceDetail;
}

function Delete({ workspace: { id, slug } }: Props) {
  const isAsked = useSignal(false);
  const run = async () => {
    const deleted = await answer(
      api.DELETE('/api/v1/workspaces/{workspaceId}', { params: { path: { workspaceId: id } } }),
    );
    if (!('deleted' in deleted)) return say(WAITS);
    say(`${slug} is deleted.`);
    goTo('#/');
    await readMe();
  };
  return (
    <section class="stack" aria-labelledby="delete">
      <h2 id="delete">Delete this workspace</h2>
      <p class="dim">Deletes its policies, memberships and tokens. Delete its peers first.</p>
      <div class="row">
        <button type="button" class="danger" onClick={() => (isAsked.value = true)}>
          Delete workspace
        </button>
      </div>
      {isAsked.value && (
        <Confirm
          title={`Delete the workspace ${slug}?`}
          act="Delete workspace"
          name={slug}
          run={run}
          close={() => (isAsked.value = false)}
        >
          <p>Deletes its policies, memberships and tokens. Delete its peers first.</p>
        </Confirm>
      )}
    </section>
  );
}
