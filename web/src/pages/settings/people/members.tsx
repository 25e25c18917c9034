import { useComputed, useSignal } from '@preact/signals';
import { allPages } from '../../../api/all-pages.ts';
import { api } from '../../../api/client.ts';
import { useLoaded } from '../../../api/load.ts';
import { session } from '../../../api/session.ts';
import type { Member, Role } from '../../../api/types.ts';
import { may, workspaceId } from '../../../api/workspace.ts';
import { write } from '../../../api/write.ts';
import { useAct } from '../../../ui/act.ts';
import { Confirm, Dialog } from '../../../ui/dialog.tsx';
import { CheckField, SelectField, TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { issuerHost } from '../../../ui/issuer-host.ts';
import { ListSection } from '../../../ui/list.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import type { Column } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';

const ROLE_WORDS = {
  viewer: 'reads the network and its history',
  auditor: 'reads the network and the audit log, assesses compliance',
  operator: 'changes the network, approves changes and devices',
  admin: 'does all of these, manages members, agents and settings',
} as const;

const removedText = (name: string, ended: number) =>
  `${name} is removed.${ended > 0 ? ` ${ended} ${ended === 1 ? 'agent' : 'agents'} ended.` : ''}`;

const ROLES = Object.keys(ROLE_WORDS) as Role[];

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
  const rows = useComputed(() => loaded.value.value);
  const close = () => {
    asked.value = undefined;
  };
  return (
    <ListSection
      title="Members"
      why="A role applies to this workspace only, from the next request on."
      of={loaded}
      rows={rows}
      columns={columnsOf(mayWrite ? (member, what) => (asked.value = { member, what }) : undefined)}
      textsOf={({ username, role }) => [username, role]}
      keyOf={({ username }) => username}
      empty="No members yet. Add one by user name."
    >
      {mayWrite && <AddMember />}
      {asked.value?.what === 'change' && <ChangeRole member={asked.value.member} close={close} />}
      {asked.value?.what === 'remove' && <RemoveMember member={asked.value.member} close={close} />}
    </ListSection>
  );
}

function columnsOf(ask: ((member: Member, what: Asked['what']) => void) | undefined): readonly Column<Member>[] {
  return [
    { name: 'User name', cell: ({ username }) => username, order: ({ username }) => username },
    {
      name: 'Role',
      cell: ({ role, issuer }) => (
        <>
          <span title={ROLE_WORDS[role]}>{role}</span>
          {issuer !== undefined && <span class="dim break"> by claims of {issuerHost(issuer)}</span>}
        </>
      ),
      order: ({ role }) => ROLES.indexOf(role),
    },
    { name: 'Member since', cell: ({ since }) => <Time at={since} />, order: ({ since }) => since, isMinor: true },
    ...(ask
      ? [
          {
            name: 'Actions',
            cell: (member: Member) => (
              <span class="row">
                <button type="button" class="link" onClick={() => ask(member, 'change')}>
                  Change role <span class="visually-hidden">{member.username}</span>
                </button>
                <button type="button" class="link" onClick={() => ask(member, 'remove')}>
                  Remove <span class="visually-hidden">{member.username}</span>
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
    `${username} is now ${role}.`,
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
      <summary>Add a member</summary>
      <Form problem={problem} class="panel stack narrow" onSubmit={submit}>
        <TextField
          label="User name"
          hint="Exact user name. Without an account yet, the person is a member from the first sign-in."
          value={username}
          required
          autocomplete="off"
        />
        <SelectField label="Role" value={role} options={roleOptions} />
        <ProblemNotice problem={problem.value} />
        <div class="row">
          <button type="submit" disabled={isActing.value}>
            Add member
          </button>
        </div>
      </Form>
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
    <Dialog title={`Change the role of ${member.username}`} close={close}>
      <Form problem={problem} class="stack" onSubmit={submit}>
        <SelectField label={`Role of ${member.username}`} value={role} options={roleOptions} />
        <ProblemNotice problem={problem.value} />
        <div class="row">
          <button type="submit" class="primary" disabled={isActing.value || role.value === member.role}>
            Change role
          </button>
          <button type="button" class="quiet" onClick={close}>
            Cancel
          </button>
        </div>
      </Form>
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
      removedText(username, 'endedAgents' in removed ? removed.endedAgents.length : 0),
    );
  };
  return (
    <Confirm title={`Remove ${username} from this workspace?`} act="Remove" name={username} run={run} close={close}>
      <p>Their API tokens here are revoked, their plans and requests withdrawn.</p>
      {username !== own && (
        <CheckField label="Take over their agents (otherwise these end)" fields={['successor']} value={takesOver} />
      )}
    </Confirm>
  );
}
