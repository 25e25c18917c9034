import type { Command } from 'commander';
import { COMMAND_VARIABLES } from '../core/base/command-variables.ts';
import type { CommandContext, Define } from './command-context.ts';
import { CliError, EXIT } from './exit.ts';
import { variable } from './variable.ts';
import { variablesHelp } from './variables.ts';

/**
 * Adds all commands by name and description, as help lists them. What a command takes and does is read from its file only
 * where the command line has its name, so that none waits for what others need, and a node that runs for months holds
 * nothing of them.
 */
export async function addCommands(program: Command, context: CommandContext): Promise<void> {
  for (const group of GROUPS) {
    const { title, commands } = group;
    program.commandsGroup(title);
    for (const { name, description, hidden = false, load } of commands) {
      const command = program.command(name, { hidden }).description(description);
      if (group === NODE && name !== 'sandbox') command.hook('preAction', () => refuseInSandbox(name));
      if (context.words.includes(name)) await (await load())(command, context);
    }
  }
  program.addHelpText(
    'after',
    variablesHelp('Environment variables', [...Object.keys(COMMAND_VARIABLES), 'MESH_PLATFORM']),
  );
}

/** @throws CliError where `mesh sandbox start` runs this: its node is outside, and out of reach */
function refuseInSandbox(name: string): void {
  if (variable('MESH_SANDBOX') === undefined) return;
  throw new CliError(
    `mesh ${name} is for a machine with a node, and a sandbox has none inside: programs connect to peers directly, by their names. To list the peers: mesh peers`,
    EXIT.notFound,
  );
}

interface Entry {
  readonly name: string;
  readonly description: string;
  readonly hidden?: true;
  load(): Promise<Define>;
}

interface Group {
  readonly title: string;
  readonly commands: readonly Entry[];
}

const NODE: Group = {
  title: 'The node of this machine:',
  commands: [
    {
      name: 'init',
      description: 'register this machine with a join token, and write its configuration',
      load: async () => (await import('./node-init.ts')).defineInit,
    },
    {
      name: 'up',
      description: 'bring this node into the network; needs superuser rights, or --userspace',
      load: async () => (await import('./node-up.ts')).defineUp,
    },
    {
      name: 'down',
      description:
        'end the node of this machine and take its tunnel away; needs superuser rights, except in userspace mode',
      load: async () => (await import('./node-down.ts')).defineDown,
    },
    {
      name: 'rotate-key',
      description:
        'give this node another key while it is up; tunnels go on; needs superuser rights, except in userspace mode',
      load: async () => (await import('./node-down.ts')).defineRotateKey,
    },
    {
      name: 'status',
      description: 'show this node and how each peer is reached; needs superuser rights, except in userspace mode',
      load: async () => (await import('./node-status.ts')).defineStatus,
    },
    {
      name: 'ping',
      description: 'ping a peer inside the overlay and name the path; needs superuser rights, except in userspace mode',
      load: async () => (await import('./node-ping.ts')).definePing,
    },
    {
      name: 'nc',
      description: 'connect standard input and output to a port of a peer, as ProxyCommand of ssh',
      load: async () => (await import('./node-nc.ts')).defineNc,
    },
    {
      name: 'forward',
      description: 'lead a local port to a port of a peer, until it is ended',
      load: async () => (await import('./node-forward.ts')).defineForward,
    },
    {
      name: 'serve',
      description: 'lead a port of this node in the overlay to a local service, until it is ended',
      load: async () => (await import('./node-serve.ts')).defineServe,
    },
    {
      name: 'netcheck',
      description: 'check what this machine reaches: STUN and NAT, relay, bus, API, and the running node',
      load: async () => (await import('./node-netcheck.ts')).defineNetcheck,
    },
    {
      name: 'logs',
      description: 'show what the node of this machine logged; needs superuser rights, except in userspace mode',
      load: async () => (await import('./node-logs.ts')).defineLogs,
    },
    {
      name: 'service',
      description: 'run the node of this machine as a service, which starts with it',
      load: async () => (await import('./node-service.ts')).defineService,
    },
    {
      name: 'leave',
      description:
        'remove this machine from the network, and what the node has on it; needs superuser rights, except in userspace mode',
      load: async () => (await import('./node-leave.ts')).defineLeave,
    },
    {
      name: 'bugreport',
      description: 'write one file about this node for whoever helps, without secrets; needs superuser rights',
      load: async () => (await import('./node-bugreport.ts')).defineBugreport,
    },
    {
      name: 'sandbox',
      description: 'run sub-agents with nothing but the overlay to talk to',
      load: async () => (await import('./node-sandbox.ts')).defineSandbox,
    },
  ],
};

const loadOrder = async () => (await import('./order.ts')).defineOrder;
const loadList = async () => (await import('./list-commands.ts')).defineList;

/** Called as a person or an agent; the everyday ones first. */
const NETWORK: Group = {
  title: 'The network, by its control plane:',
  commands: [
    {
      name: 'login',
      description:
        'sign in to a control plane, by a browser or with the password from MESH_PASSWORD, the terminal or standard input',
      load: async () => (await import('./login.ts')).defineLogin,
    },
    {
      name: 'logout',
      description: 'end the stored session; the server stays known',
      load: async () => (await import('./logout.ts')).defineLogout,
    },
    {
      name: 'passwd',
      description: 'change the password of the signed-in account',
      load: async () => (await import('./login.ts')).definePasswd,
    },
    {
      name: 'otp',
      description: 'enrol a second factor of the signed-in account, show it, or take it away',
      load: async () => (await import('./otp.ts')).defineOtp,
    },
    {
      name: 'invite',
      description: 'make a join token and show it as a QR code; it is a secret',
      load: async () => (await import('./invite.ts')).defineInvite,
    },
    { name: 'peers', description: 'list the peers of the workspace, or show one', load: loadList },
    {
      name: 'rename',
      description: 'rename a peer',
      load: async () => (await import('./rename.ts')).defineRename,
    },
    {
      name: 'access',
      description: 'list who can reach a peer, and what it can reach',
      load: async () => (await import('./access.ts')).defineAccess,
    },
    { name: 'policies', description: 'list the access policies of the workspace, or show one', load: loadList },
    { name: 'networks', description: 'list the networks of the workspace, or show one', load: loadList },
    {
      name: 'renumber',
      description: 'give a network another block of addresses, once a person approves',
      load: async () => (await import('./renumber.ts')).defineRenumber,
    },
    {
      name: 'agents',
      description: 'list the agents of the workspace, or show one with its sub-agents',
      load: loadList,
    },
    { name: 'workflows', description: 'list the approval workflows, newest first, or show one', load: loadList },
    { name: 'snapshots', description: 'list the snapshots of the network, newest first, or show one', load: loadList },
    {
      name: 'users',
      description: 'list the accounts, add one, reset its password, disable it',
      load: async () => (await import('./users.ts')).defineUsers,
    },
    {
      name: 'settings',
      description: 'show the settings of the workspace, or change them',
      load: async () => (await import('./settings.ts')).defineSettings,
    },
    { name: 'workspaces', description: 'list your workspaces', load: loadList },
    {
      name: 'tokens',
      description: 'list the join tokens of the workspace and your API tokens',
      load: async () => (await import('./tokens.ts')).defineTokens,
    },
    {
      name: 'plan',
      description: 'show what a change in plain language would open and close',
      load: async () => (await import('./plan.ts')).definePlan,
    },
    { name: 'allow', description: 'plan that peers may reach others; closes nothing', load: loadOrder },
    { name: 'deny', description: 'plan that peers may not reach others, which wins over each allow', load: loadOrder },
    { name: 'only', description: 'plan that nobody but these peers may reach others', load: loadOrder },
    { name: 'remove-access', description: 'plan to take away what policies give between peers', load: loadOrder },
    {
      name: 'undo',
      description: 'take a change back, after showing what that opens and closes',
      load: async () => (await import('./undo.ts')).defineUndo,
    },
    {
      name: 'apply',
      description: 'create or update what files of YAML or JSON documents say',
      load: async () => (await import('./apply.ts')).defineApply,
    },
    {
      name: 'approve',
      description: 'approve a change or let a peer in; alone, list what is waiting',
      load: async () => (await import('./review.ts')).defineApprove,
    },
    {
      name: 'reject',
      description: 'reject a change, or a peer that awaits approval',
      load: async () => (await import('./review.ts')).defineReject,
    },
    {
      name: 'why',
      description: 'explain a pair: what policy says, and which path packets take and why',
      load: async () => (await import('./node-why.ts')).defineWhy,
    },
    {
      name: 'log',
      description: 'show what changed, when and by whom, newest first',
      load: async () => (await import('./log.ts')).defineLog,
    },
    {
      name: 'history',
      description: 'tell how a connection was over a range, and what changed it',
      load: async () => (await import('./history.ts')).defineHistory,
    },
    {
      name: 'diff',
      description:
        'compare files with the network, or two of its moments: resources, and which connections that opens and closes',
      load: async () => (await import('./diff.ts')).defineDiff,
    },
    {
      name: 'compliance',
      description: 'assess the network by a framework, review access, policies and activity',
      load: async () => (await import('./compliance.ts')).defineCompliance,
    },
    {
      name: 'evidence',
      description: 'write the evidence of an assessment as a ZIP archive, or verify one',
      load: async () => (await import('./evidence.ts')).defineEvidence,
    },
    {
      name: 'webhook',
      description: 'tell receivers outside what happens in the workspace, and see what became of it',
      load: async () => (await import('./webhook.ts')).defineWebhook,
    },
    {
      name: 'export',
      description: 'write networks, peers and policies as files, now or as they were',
      load: async () => (await import('./export.ts')).defineExport,
    },
    {
      name: 'import',
      description: 'make an empty workspace what an export says; again once more devices have joined',
      load: async () => (await import('./import.ts')).defineImport,
    },
  ],
};

const MORE: Group = {
  title: 'More:',
  commands: [
    {
      name: 'mcp',
      description: 'speak MCP on standard input and output, for clients that start a command',
      load: async () => (await import('./mcp.ts')).defineMcp,
    },
    {
      name: 'policy',
      description: 'work with policies',
      load: async () => (await import('./policy-test.ts')).definePolicy,
    },
    {
      name: 'audit',
      description: 'verify the audit log, and the records that it tells of',
      load: async () => (await import('./audit.ts')).defineAudit,
    },
    {
      name: 'admin',
      description: 'call any operation of the control plane, by subject',
      load: async () => (await import('./admin.ts')).defineAdmin,
    },
    {
      name: 'completion',
      description: 'print a completion script, such as: source <(mesh completion bash)',
      load: async () => (await import('./completion.ts')).defineCompletion,
    },
    {
      name: '__complete',
      description: 'what the word that is being typed may go on as',
      hidden: true,
      load: async () => (await import('./completion.ts')).defineComplete,
    },
  ],
};

const GROUPS = [NODE, NETWORK, MORE];
