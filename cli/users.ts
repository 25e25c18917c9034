import { randomBytes } from 'node:crypto';
import { type Command, Option } from 'commander';
import { WORKSPACE_ROLES } from '../core/base/scope.ts';
import { ACCOUNT_ROLES } from '../core/identity/accounts.ts';
import { createUser } from '../tools/users/create-user.ts';
import { listUsers } from '../tools/users/list-users.ts';
import { resetOtp } from '../tools/users/reset-otp.ts';
import { updateUser } from '../tools/users/update-user.ts';
import { listMembers } from '../tools/workspaces/list-members.ts';
import { setMember } from '../tools/workspaces/set-member.ts';
import { type Answer, answering, notice } from './answer.ts';
import { callOperation } from './call-operation.ts';
import { confirm } from './confirm.ts';
import { allPages } from './list-commands.ts';
import { readText } from './operation-options.ts';
import { noticePending, pendingWorkflowOf } from './pending-approval.ts';
import { type Target, type TargetOptions, targetOf } from './session.ts';
import { withTarget } from './target.ts';
import { existingWorkspace } from './workspace.ts';

interface AddOptions extends TargetOptions {
  readonly role?: string;
  readonly displayName?: string;
  readonly member?: string;
  readonly passwordStdin?: boolean;
}

interface ResetOptions extends TargetOptions {
  readonly passwordStdin?: boolean;
  readonly otp?: boolean;
}

interface YesOptions extends TargetOptions {
  readonly yes?: boolean;
}

type RemovalAnswer = ReturnType<typeof updateUser.output.parse>;

const PASSWORD_STDIN = [
  '--password-stdin',
  'take the initial password from standard input, instead of making one',
] as const;
/** Bytes of an initial password that is made: as hard to guess as a token. */
const PASSWORD_BYTES = 15;

/** `mesh users`: lists the accounts of the installation, adds one, resets or disables one. */
export function defineUsers(command: Command): void {
  answering(
    withTarget(command.command('list', { isDefault: true }).description('list the accounts (also without a word)')),
    async (options: TargetOptions): Promise<Answer> => ({
      value: await allPages(targetOf(options), listUsers, {}),
      columns: listUsers.columns,
    }),
  );
  answering(
    withTarget(command.command('add').description('add an account, and print the password that it begins with'))
      .argument('<username>', 'such as ada')
      .option('--display-name <text>', 'name that others see')
      .addOption(new Option('--role <role>', 'role in the installation (user)').choices(ACCOUNT_ROLES))
      .addOption(new Option('--member <role>', 'make it a member of the workspace').choices(WORKSPACE_ROLES))
      .option(...PASSWORD_STDIN),
    add,
  );
  answering(
    withTarget(command.command('reset').description('give an account a new initial password; ends its sessions'))
      .argument('<username>', 'whose')
      .option('--otp', 'take its second factor away instead')
      .option(...PASSWORD_STDIN),
    reset,
  );
  answering(
    withTarget(command.command('disable').description('disable an account; says first what ends with that'))
      .argument('<username>', 'whose')
      .option('-y, --yes', 'do not ask'),
    disable,
  );
  answering(
    withTarget(command.command('enable').description('enable an account again')).argument('<username>', 'whose'),
    async (username: string, options: TargetOptions): Promise<Answer> =>
      answerOf(await callOperation(targetOf(options), updateUser, { username, disabled: false }), [
        `${username} is enabled. What ended when it was disabled does not come back.`,
      ]),
  );
}

async function add(username: string, options: AddOptions): Promise<Answer> {
  const { role, displayName, member } = options;
  const target = member === undefined ? targetOf(options) : await inItsWorkspace(targetOf(options));
  const { password, isMade } = await initialPassword(options);
  const made = await callOperation(target, createUser, {
    username,
    password,
    ...(role !== undefined && { role }),
    ...(displayName !== undefined && { displayName }),
  });
  if (pendingWorkflowOf(made) !== undefined) return answerOf(made, []);
  const lines = [`Added ${username}.`, ...passwordLines(password, isMade), ...noticeIn(made)];
  const value = { ...(made as object), ...(isMade && { password }) };
  if (member === undefined) {
    const hint = `To let it into this workspace: mesh admin set-member ${username} --role ${WORKSPACE_ROLES[0]}`;
    return { value, text: lines, hints: [hint] };
  }
  // The password is shown once, whatever becomes of the membership.
  const joined = await callOperation(target, setMember, { username, role: member }).catch((error: unknown) => {
    notice(lines);
    throw error;
  });
  noticePending(joined);
  const isWaiting = pendingWorkflowOf(joined) !== undefined;
  return {
    value: { ...value, member: joined },
    text: isWaiting ? lines : [...lines, `It is ${member} of the workspace.`, ...noticeIn(joined)],
  };
}

/** Finds the workspace of a membership, and that it is there, before the account is added. @throws CliError */
async function inItsWorkspace(target: Target): Promise<Target> {
  const found = { ...target, workspace: target.workspace ?? (await existingWorkspace(target)) };
  await callOperation(found, listMembers, { limit: 1 });
  return found;
}

async function reset(username: string, options: ResetOptions): Promise<Answer> {
  const target = targetOf(options);
  if (options.otp) {
    const value = await callOperation(target, resetOtp, { username });
    return answerOf(value, [`${username} has no second factor any more, and signs in with the password alone.`]);
  }
  const { password, isMade } = await initialPassword(options);
  const value = await callOperation(target, updateUser, { username, password });
  if (pendingWorkflowOf(value) !== undefined) return answerOf(value, []);
  const text = [
    `${username} has a new password; its sessions and API tokens have ended.`,
    ...passwordLines(password, isMade),
  ];
  return { value: { ...(value as object), ...(isMade && { password }) }, text };
}

async function disable(username: string, { yes, ...options }: YesOptions): Promise<Answer> {
  const target = targetOf(options);
  const before = await callOperation(target, updateUser, { username, disabled: true, dryRun: true });
  const lines = leftoverLines(before);
  if (!yes) {
    notice([`Disabling ${username} ends its sessions and API tokens.`, ...lines]);
    if (!(await confirm(`Disable ${username}?`))) return { value: before, text: 'Nothing was changed.' };
  }
  const value = await callOperation(target, updateUser, { username, disabled: true });
  return answerOf(value, [`${username} is disabled.`, ...(yes ? lines : [])]);
}

/** Returns what ends with an account, and what passes to others. */
function leftoverLines({ left = [], omitted_left: omitted = 0 }: RemovalAnswer): readonly string[] {
  const lines = left.map(({ workspace, type, name, becomes, to }) => {
    const fate = becomes === 'ends' ? 'ends' : `passes to ${to ?? 'the workspace, without an owner'}`;
    return `  ${type.replaceAll('_', ' ')} ${name} in ${workspace} ${fate}`;
  });
  return omitted > 0 ? [...lines, `  and ${omitted} more`] : lines;
}

/** Returns what changes for others with a new approver, where a control plane says so. */
function noticeIn(value: unknown): readonly string[] {
  const { notice: text } = (value ?? {}) as { readonly notice?: string };
  return text === undefined ? [] : [text];
}

function answerOf(value: unknown, text: readonly string[]): Answer {
  noticePending(value);
  return pendingWorkflowOf(value) === undefined ? { value, text } : { value };
}

async function initialPassword({ passwordStdin }: { readonly passwordStdin?: boolean }) {
  if (!passwordStdin) return { password: randomBytes(PASSWORD_BYTES).toString('base64url'), isMade: true };
  const [password = ''] = (await readText('-')).split(/\r?\n/);
  return { password, isMade: false };
}

function passwordLines(password: string, isMade: boolean): readonly string[] {
  const change = 'It has to be changed at the first login.';
  return isMade
    ? [`Initial password: ${password}`, `It is not shown again. ${change}`]
    : [`The password is the one you gave. ${change}`];
}
