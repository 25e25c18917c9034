import { useComputed, useSignal } from '@preact/signals';
import { allPages } from '../../../api/all-pages.ts';
import { api } from '../../../api/client.ts';
import { useLoaded } from '../../../api/load.ts';
import { session } from '../../../api/session.ts';
import type { Member, Role } from '../../../api/types.ts';
import { may, workspaceId } from '../../../api/workspace.ts';
import { write } from '../../../api/write.ts';
import { route } from '../../../route/route.ts';
import { ROLE_WORDS, settings } from '../../../texts/settings.ts';
import { texts } from '../../../texts/texts.ts';
import { useAct } from '../../../ui/act.ts';
import { Confirm, Dialog } from '../../../ui/dialog.tsx';
import { CheckField, SelectField, TextField } from '../../../ui/field.tsx';
import { Empty } from '../../../ui/page.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import { type Column, matches, SearchBox, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';

const ROLES = Object.keys(ROLE_WORDS) as Role[];
const words = settings.people;

interface Asked {
  readonly member: Member;
  readonly what: 'change' | 'remove';
}

/** The members of the workspace with their roles. */
export function Members() {
  const loaded = useLoaded(() => {
    const id = workspaceId.value ?? '';
    return allPages<Member>((cursor) =>
      api.GET('/api/v1/workspaces/{workspaceId}/members', {
        params: { path: { workspaceId: id }, query: { limit: 200, ...(cursor && { cursor }) } },
      }),
    );
  });
  const asked = useSignal<Asked | undefined>(undefined);
  const mayWrite = may('members:write');
  const rows = useComputed(() => {
    const search = route.value.query.get('q') ?? '';
    return (loaded.value.value ?? []).filter(({ username, role }) => matches(search, [username, role]));
  });
  const { value } = loaded.value;
  const close = () => {
    asked.value = undefined;
  };
  return (
    <section class="stack">
      <h2>{words.members}</h2>
      <p class="dim">{words.membersWhy}</p>
      <div class="row">
        <SearchBox label={words.search} />
      </div>
      <Table
        read={loaded.value}
        label={words.members}
        isPart
        columns={columnsOf(mayWrite ? (member, what) => (asked.value = { member, what }) : undefined)}
        rows={rows}
        keyOf={({ username }) => username}
        empty={<Empty>{value?.length === 0 ? words.noMembers : texts.common.noMatch}</Empty>}
      />
      {mayWrite && <AddMember />}
      {asked.value?.what === 'change' && <ChangeRole member={asked.value.member} close={close} />}
      {asked.value?.what === 'remove' && <RemoveMember member={asked.value.member} close={close} />}
    </section>
  );
}

function columnsOf(ask: ((member: Member, what: Asked['what']) => void) | undefined): readonly Column<Member>[] {
  return [
    { name: words.name, cell: ({ username }) => username, order: ({ username }) => username },
    {
      name: words.role,
      cell: ({ role }) => <span title={ROLE_WORDS[role]}>{role}</span>,
      order: ({ role }) => ROLES.indexOf(role),
    },
    { name: words.since, cell: ({ since }) => <Time at={since} />, order: ({ since }) => since, isMinor: true },
    ...(ask
      ? [
          {
            name: texts.common.actions,
            cell: (member: Member) => (
              <span class="row">
                <button type="button" class="link" onClick={() => ask(member, 'change')}>
                  {words.change} <span class="visually-hidden">{member.username}</span>
                </button>
                <button type="button" class="link" onClick={() => ask(member, 'remove')}>
                  {words.remove} <span class="visually-hidden">{member.username}</span>
                </button>
              </span>
            ),
          },
        ]
      : []),
  ];
}

const roleOptions = ROLES.map((role) => [role, `${role}: ${ROLE_WORDS[role]}`] as const);

function setRole(username: string, role: string) {
  const params = { path: { workspaceId: workspaceId.value ?? '', username } };
  return write(
    api.PUT('/api/v1/workspaces/{workspaceId}/members/{username}', { params, body: { role: role as Role } }),
    words.added(username, role),
  );
}

function AddMember() {
  const username = useSignal('');
  const role = useSignal<string>('viewer');
  const { isActing, problem, act } = useAct();
  const submit = async (event: Event) => {
    event.preventDefault();
    if (await act(() => setRole(username.value.trim(), role.value))) username.value = '';
  };
  return (
    <details>
      <summary>{words.add}</summary>
      <form class="panel stack narrow" onSubmit={submit}>
        <TextField label={words.name} hint={words.addHint} value={username} required autocomplete="off" />
        <SelectField label={words.role} value={role} options={roleOptions} />
        <ProblemNotice problem={problem.value} />
        <div class="row">
          <button type="submit" disabled={isActing.value}>
            {words.addAct}
          </button>
        </div>
      </form>
    </details>
  );
}

function ChangeRole({ member, close }: { member: Member; close: () => void }) {
  const role = useSignal<string>(member.role);
  const { isActing, problem, act } = useAct();
  const submit = async (event: Event) => {
    event.preventDefault();
    if (await act(() => setRole(member.username, role.value))) close();
  };
  return (
    <Dialog title={words.changeOf(member.username)} close={close}>
      <form class="stack" onSubmit={submit}>
        <SelectField label={words.roleOf(member.username)} value={role} options={roleOptions} />
        <ProblemNotice problem={problem.value} />
        <div class="row">
          <button type="submit" class="primary" disabled={isActing.value || role.value === member.role}>
            {words.change}
          </button>
          <button type="button" class="quiet" onClick={close}>
            {texts.common.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function RemoveMember({ member: { username }, close }: { member: Member; close: () => void }) {
  const takesOver = useSignal(false);
  const own = session.value?.username;
  const run = async () => {
    const params = { path: { workspaceId: workspaceId.value ?? '', username } };
    const body = takesOver.value && own ? { successor: own } : {};
    await write(api.DELETE('/api/v1/workspaces/{workspaceId}/members/{username}', { params, body }), (removed) =>
      words.removed(username, 'endedAgents' in removed ? removed.endedAgents.length : 0),
    );
  };
  return (
    <Confirm title={words.removeTitle(username)} act={words.remove} name={username} run={run} close={close}>
      <p>{words.removeWhy}</p>
      {username !== own && <CheckField label={words.takeOver} value={takesOver} />}
    </Confirm>
  );
}
