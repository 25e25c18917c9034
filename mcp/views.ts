import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type Resource,
  type Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import { SYSTEM_WORKSPACE } from '../core/base/ids.ts';
import type { McpOptions, Principal, ReadContents, View } from './surface.ts';
import { workspacesOf } from './tools.ts';

/** MCP Apps (SEP-1865), as clients and servers name it in their capabilities. */
export const VIEWS_EXTENSION = 'io.modelcontextprotocol/ui';
const MIME = 'text/html;profile=mcp-app';

/**
 * The key in the metadata of an answer for the dashboard address of its workspace. A view links there; a model does not see it.
 */
const DASHBOARD_META_KEY = 'mesh/dashboard';

/** Without origins of its own, a host lets a view ask nothing of the network. */
const RESOURCE_META = { ui: { prefersBorder: true } };
/** The model calls tools; a view calls none, and a host refuses one that tries. */
const VISIBILITY = ['model'];

interface Envelope {
  readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities | undefined;
}

export interface Views {
  /** True if the client of this request shows views. */
  isShownBy(server: Server, context: ServerContext): boolean;
  list(): Resource[];
  /** Undefined when the URI is of no view. */
  read(uri: string): ReadContents[] | undefined;
  /** A tool with the view of its answers. */
  linked(tool: Tool): Tool;
  /** An answer with what its view needs besides. */
  shown(tool: string, answer: CallToolResult, args: object, principal: Principal): Promise<CallToolResult>;
}

export function buildViews({ views = [], gate }: Pick<McpOptions, 'views' | 'gate'>): Views {
  const byUri = new Map(views.map((view) => [uriOf(view), view]));
  const byTool = new Map(views.flatMap((view) => view.tools.map((tool) => [tool, view] as const)));

  return {
    isShownBy(server, { mcpReq: { envelope } }) {
      // The current revision says it with each request, that of 2025 once for a session.
      const { [CLIENT_CAPABILITIES_META_KEY]: capabilities } = (envelope as Envelope | undefined) ?? {
        [CLIENT_CAPABILITIES_META_KEY]: server.getClientCapabilities(),
      };
      const asked = capabilities?.extensions?.[VIEWS_EXTENSION]?.['mimeTypes'];
      return views.length > 0 && Array.isArray(asked) && asked.includes(MIME);
    },
    list: () =>
      [...byUri].map(([uri, { name, title, description }]) => ({
        uri,
        name,
        title,
        description,
        mimeType: MIME,
        _meta: RESOURCE_META,
      })),
    read(uri) {
      const view = byUri.get(uri);
      return view && [{ uri, mimeType: MIME, text: view.html, _meta: RESOURCE_META }];
    },
    linked(tool) {
      const view = byTool.get(tool.name);
      const ui = { ...(view && { resourceUri: uriOf(view) }), visibility: VISIBILITY };
      return { ...tool, _meta: { ...tool._meta, ui } };
    },
    async shown(tool, answer, args, principal) {
      const dashboard = byTool.has(tool) && (await dashboardOf(args, principal));
      return dashboard ? { ...answer, _meta: { ...answer._meta, [DASHBOARD_META_KEY]: dashboard } } : answer;
    },
  };

  /** Undefined where it is not said which workspace is meant. */
  async function dashboardOf(args: { readonly workspace_id?: unknown }, principal: Principal) {
    const named = typeof args.workspace_id === 'string' ? args.workspace_id : undefined;
    const own = await workspacesOf({ ...principal, workspaceHint: named ?? principal.workspaceHint }, gate);
    const [workspace] = own;
    const isOne = own.length === 1 && workspace !== SYSTEM_WORKSPACE;
    return isOne ? `${gate.services.settings.apiUrl}/#/${workspace}` : undefined;
  }
}

function uriOf({ name }: Pick<View, 'name'>): string {
  return `ui://mesh/${name}`;
}
