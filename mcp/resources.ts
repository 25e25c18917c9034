import {
  ProtocolError,
  ProtocolErrorCode,
  type Resource,
  ResourceNotFoundError,
  type ResourceTemplateType,
} from '@modelcontextprotocol/server';
import { jsonText, lineText } from '../core/base/as-data.ts';
import { MeshError, toProblem } from '../core/base/errors.ts';
import { newId, SYSTEM_WORKSPACE } from '../core/base/ids.ts';
import type { AnyOperation } from '../core/base/operation.ts';
import type { Commit } from '../core/base/ports.ts';
import { mayAccess } from '../core/call/access.ts';
import { type CallRequest, invoke } from '../core/call/invoke.ts';
import { logFailure } from '../core/call/log-failure.ts';
import { mergedText, pagesOf } from '../core/call/merged-pages.ts';
import { answerTooLarge } from '../core/compute/answer-size.ts';
import type { Services } from '../core/workflow/services.ts';
import type { McpOptions, Principal, ReadContents } from './surface.ts';
import { workspacesOf } from './tools.ts';

const MIME = 'application/json';
const URI = /^mesh:\/\/workspaces\/([^/?#]+)\/(policies|peers|drift|snapshots|workflows)(?:\/([^/?#]+))?$/;

type Family = 'policies' | 'peers' | 'drift' | 'snapshots' | 'workflows';

/** The operation that each family of resources is read through, so that both faces show the same. */
const FAMILIES: Readonly<Record<Family, { operation: string; title: string; description: string; each: boolean }>> = {
  policies: { operation: 'list_policies', title: 'Policies', description: 'Access policies in force', each: false },
  peers: { operation: 'list_peers', title: 'Peers', description: 'Nodes and agents of the network', each: false },
  drift: {
    operation: 'list_compliance_drift',
    title: 'Compliance drift',
    description: 'Controls that an assessment found otherwise than the one before',
    each: false,
  },
  snapshots: {
    operation: 'get_snapshot',
    title: 'Snapshot',
    description: 'The whole network at one instant',
    each: true,
  },
  workflows: { operation: 'get_workflow', title: 'Workflow', description: 'A change and its approval', each: true },
};
const LIST_LIMIT = 200;
/** The longest resource, characters: it is one message of JSON, which is written and read again whole. */
export const MAX_RESOURCE_CHARACTERS = 8 * 1024 * 1024;

export interface Resources {
  list(principal: Principal): Promise<Resource[]>;
  readonly templates: readonly ResourceTemplateType[];
  /** Undefined when the URI is not of the mesh scheme. */
  read(uri: string, principal: Principal, signal: AbortSignal): Promise<ReadContents[]> | undefined;
  /** True if this caller may watch the resource; the URI must carry the id of the workspace, as the listings do. */
  mayWatch(uri: string, principal: Principal): Promise<boolean>;
}

export function buildResources({ operations, gate, log, extension }: McpOptions): Resources {
  const byName = new Map(operations.map((operation) => [operation.name, operation]));
  const families = (Object.keys(FAMILIES) as Family[]).filter((family) => byName.has(FAMILIES[family].operation));

  function targetOf(uri: string) {
    const [, workspace, family, id] = URI.exec(uri) ?? [];
    if (!workspace || !family || !families.includes(family as Family)) return undefined;
    const { operation: name, each } = FAMILIES[family as Family];
    const operation = byName.get(name);
    if (!operation || each !== (id !== undefined)) return undefined;
    return { workspace: decoded(workspace), operation, id: id === undefined ? undefined : decoded(id) };
  }

  async function read(uri: string, principal: Principal, signal: AbortSignal): Promise<ReadContents[]> {
    const target = targetOf(uri);
    if (!target) throw new ResourceNotFoundError(uri);
    const { caller, origin, requestId = newId('r') } = principal;
    try {
      // As over REST: a resource is the whole, where a tool may answer a summary that points to it.
      const call: CallRequest = {
        raw: inputOf(target),
        bearer: undefined,
        caller,
        workspaceHints: [target.workspace],
        face: 'rest',
        origin,
        requestId,
        signal,
      };
      const { operation } = target;
      const value = operation.http.joinsPages
        ? await merged(pagesOf(operation, call, gate))
        : await invoke(operation, call, gate);
      return [{ uri, mimeType: MIME, text: jsonText(value) }];
    } catch (error) {
      const problem = toProblem(error, { requestId });
      logFailure(log, error, problem, { uri });
      if (problem.code === 'not_found') throw new ResourceNotFoundError(uri, lineText(problem.detail));
      const code = error instanceof MeshError ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
      throw new ProtocolError(code, lineText(`${problem.title}: ${problem.detail}`), { problem });
    }
  }

  return {
    async list(principal) {
      const workspaces = await workspacesOf(principal, gate);
      return workspaces.flatMap((workspace) =>
        families.flatMap((family): Resource[] => {
          const { operation, title, description, each } = FAMILIES[family];
          const access = byName.get(operation)?.access;
          if (each || workspace === SYSTEM_WORKSPACE || !access || !mayAccess(access, principal.caller, workspace))
            return [];
          return [{ uri: uriOf(workspace, family), name: family, title, description, mimeType: MIME }];
        }),
      );
    },
    templates: families.map((family) => {
      const { title, description, each } = FAMILIES[family];
      const uriTemplate = `mesh://workspaces/{w}/${family}${each ? '/{id}' : ''}`;
      return { name: each ? family.slice(0, -1) : family, title, description, uriTemplate, mimeType: MIME };
    }),
    read: (uri, principal, signal) => (uri.startsWith('mesh:') ? read(uri, principal, signal) : undefined),
    async mayWatch(uri, principal) {
      if (extension?.resources.some((resource) => resource.uri === uri)) return true;
      const target = targetOf(uri);
      if (!target || (await gate.workspaceId(target.workspace)) !== target.workspace) return false;
      const { caller } = principal;
      const member = caller.workspaces === 'all' || caller.workspaces.includes(target.workspace);
      return member && mayAccess(target.operation.access, caller, target.workspace);
    },
  };
}

/** Pages as the one answer that REST sends. @throws MeshError `payload_too_large` */
async function merged(pages: ReturnType<typeof pagesOf>): Promise<unknown> {
  let text = '';
  for await (const piece of mergedText(pages)) {
    text += piece;
    if (text.length > MAX_RESOURCE_CHARACTERS)
      throw answerTooLarge('Read it in pages with the tool, or over REST.', MAX_RESOURCE_CHARACTERS);
  }
  return JSON.parse(text);
}

/** Lists at their largest page; the path parameter of an operation on one record takes the id. */
function inputOf({ operation, id }: { operation: AnyOperation<Services>; id: string | undefined }) {
  if (id === undefined) return 'limit' in operation.input.shape ? { limit: LIST_LIMIT } : {};
  const params = [...operation.http.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  return { [params.find((name) => name !== 'workspaceId') ?? 'id']: id };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function uriOf(workspace: string, family: Family, id?: string): string {
  return `mesh://workspaces/${workspace}/${family}${id === undefined ? '' : `/${encodeURIComponent(id)}`}`;
}

/** The workspace that a resource is of. */
export function workspaceOf(uri: string): string | undefined {
  return URI.exec(uri)?.[1];
}

/** The resources that a commit changed. */
export function urisOf({ workspace, changes }: Commit): ReadonlySet<string> {
  const uris = new Set<string>();
  for (const { record } of changes) {
    switch (record.kind) {
      case 'MeshPolicy':
        uris.add(uriOf(workspace, 'policies'));
        break;
      case 'MeshPeer':
      case 'Presence':
        uris.add(uriOf(workspace, 'peers'));
        break;
      case 'ComplianceDrift':
        uris.add(uriOf(workspace, 'drift'));
        break;
      case 'Workflow':
        uris.add(uriOf(workspace, 'workflows', record.uid));
        break;
      default:
    }
  }
  return uris;
}
