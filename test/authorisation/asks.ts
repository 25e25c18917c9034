import { exportEvidence } from '../../rest/evidence.ts';
import { operations } from '../../tools/index.ts';
import { MCP_TOOLS } from '../../tools/surfaces.ts';
import type { Operation } from '../kits/http/sample-requests.ts';
import type { Ask, Asker } from './ask.ts';
import { eventAsks } from './event-asks.ts';
import { type Defined, expectedOf, expectedOfCompletion, expectedOfWatching } from './expected.ts';
import {
  completionVerdict,
  listenVerdict,
  promptVerdicts,
  resourceVerdict,
  subscribeVerdict,
  toolVerdict,
} from './over-mcp.ts';
import { restVerdict } from './over-rest.ts';
import type { RawMcp } from './raw-mcp.ts';
import type { Standing, Verdict } from './standing.ts';

/** The operations after which their caller, or the workspace, is not there any more. */
export const ENDING: readonly string[] = ['delete_workspace', 'leave_network', 'log_out', 'log_out_everywhere'];

const byName = new Map<string, Operation>(operations.map((operation) => [operation.name, operation]));
const named = (name: string): Operation => {
  const operation = byName.get(name);
  if (!operation) throw new Error(`There is no operation ${name}.`);
  return operation;
};

const operationAsks: readonly Ask[] = [...operations, exportEvidence].map((operation) => ({
  what: operation.name,
  needs: operation.access,
  expected: (standing) => expectedOf(operation, standing),
  async observed({ send, bearer, workspace }) {
    const { http } = operation;
    const paths = [http.path, ...(http.aliases ?? [])];
    const verdicts: Verdict[] = [];
    for (const path of paths) {
      verdicts.push(await restVerdict(send, { ...operation, http: { ...http, path } }, bearer, workspace));
    }
    // A device may send its token in the body.
    if (operation.access === 'enrolment' && bearer !== undefined) {
      verdicts.push(await restVerdict(send, operation, undefined, workspace, { token: bearer }));
    }
    return verdicts;
  },
}));

const toolAsks: readonly Ask[] = operations
  .filter(({ name }) => MCP_TOOLS.includes(name))
  .map((tool) => ({
    what: `tool ${tool.name}`,
    needs: tool.access,
    expected: (standing) => expectedOf(tool, standing),
    observed: ({ mcp }) => Promise.all(mcp.map((client) => toolVerdict(client, tool))),
  }));

/** Families of resources, as their templates end, and the operation that shows each. */
export const RESOURCES = {
  policies: 'list_policies',
  peers: 'list_peers',
  drift: 'list_compliance_drift',
  'snapshots/{id}': 'get_snapshot',
  'workflows/{id}': 'get_workflow',
} as const;

const resourceAsks: readonly Ask[] = Object.entries(RESOURCES).flatMap(([family, name]): Ask[] => {
  const reading = named(name);
  const uriOf = ({ workspace, ids }: Asker) => {
    const path = family.replace(
      /^(snapshots|workflows)\/\{id\}$/,
      (_, kind: keyof Asker['ids']) => `${kind}/${ids[kind]}`,
    );
    return `mesh://workspaces/${workspace}/${path}`;
  };
  const watching = { needs: reading.access, expected: (standing: Standing) => expectedOfWatching(reading, standing) };
  return [
    {
      what: `resource ${family}`,
      needs: reading.access,
      expected: (standing) => expectedOf(reading, standing),
      observed: (asker) => Promise.all(asker.mcp.map((client) => resourceVerdict(client, uriOf(asker), reading))),
    },
    {
      what: `subscribe ${family}`,
      ...watching,
      observed: async (asker) => [await subscribeVerdict(clientOf(asker, '2025'), uriOf(asker), reading)],
    },
    {
      what: `listen ${family}`,
      ...watching,
      observed: async (asker) => [await listenVerdict(clientOf(asker, 'current'), uriOf(asker), reading)],
    },
  ];
});

/** Prompts with the arguments that they need, and the tools whose answers they bring. */
export const PROMPTS = {
  change_network: { args: { intent: 'none' }, tools: ['list_peers', 'list_policies'] },
  debug_connectivity: { args: { src: 'absent-1', dst: 'absent-1' }, tools: ['check_connectivity', 'list_snapshots'] },
  review_plan: { args: { workflow_id: 'absent-1' }, tools: ['get_workflow'] },
} as const;

const promptAsks: readonly Ask[] = Object.entries(PROMPTS).flatMap(([prompt, { args, tools }]) =>
  tools.map((name, index): Ask => {
    const tool = named(name);
    return {
      what: `prompt ${prompt}: ${name}`,
      needs: tool.access,
      expected: (standing) => expectedOf(tool, standing),
      observed: ({ mcp }) =>
        Promise.all(
          mcp.map(async (client) => {
            const verdicts = await promptVerdicts(client, prompt, args, tools.map(named));
            return verdicts[index] ?? 'no';
          }),
        ),
    };
  }),
);

const prompt = (name: string, argument: string) => ({
  ref: { type: 'ref/prompt', name },
  argument: { name: argument, value: '' },
});
const template = (family: string, argument: string) => ({
  ref: { type: 'ref/resource', uri: `mesh://workspaces/{w}/${family}` },
  argument: { name: argument, value: '' },
});

/** What can be completed, with the operation that lists the values; the ids of workspaces are the caller's own. */
const COMPLETIONS: readonly [string, Readonly<Record<string, unknown>>, string | undefined][] = [
  ['workspace', template('peers', 'w'), undefined],
  ['peer', prompt('debug_connectivity', 'src'), 'list_peers'],
  ['workflow', prompt('review_plan', 'workflow_id'), 'list_workflows'],
  ['workflow of a resource', template('workflows/{id}', 'id'), 'list_workflows'],
  ['snapshot of a resource', template('snapshots/{id}', 'id'), 'list_snapshots'],
];

const OF_CALLER: Defined = { name: 'completion', access: 'authenticated', workspace: 'none', problems: [] };

const completionAsks: readonly Ask[] = COMPLETIONS.map(([what, params, name]) => {
  const listing = name === undefined ? undefined : named(name);
  return {
    what: `completion ${what}`,
    needs: listing?.access ?? OF_CALLER.access,
    expected: (standing) => expectedOfCompletion(listing, standing),
    observed: ({ mcp }) => Promise.all(mcp.map((client) => completionVerdict(client, params, listing ?? OF_CALLER))),
  };
});

/** In the order of the table. */
export const asks: readonly Ask[] = [operationAsks, toolAsks, resourceAsks, promptAsks, completionAsks]
  .flatMap((some) => some.toSorted((a, b) => (a.what < b.what ? -1 : 1)))
  .concat(eventAsks);

function clientOf({ mcp }: Asker, era: RawMcp['era']): RawMcp {
  const client = mcp.find((one) => one.era === era);
  if (!client) throw new Error(`There is no client of the era ${era}.`);
  return client;
}
