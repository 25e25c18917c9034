import type {
  CallToolResult,
  CompleteRequestParams,
  InputRequiredResult,
  Prompt,
  PromptMessage,
  Resource,
  ResourceContents,
  ResourceTemplateType,
  Server,
  ServerCapabilities,
  ServerContext,
  ServerOptions,
  Tool,
} from '@modelcontextprotocol/server';
import type { Caller } from '../core/base/caller.ts';
import type { AnyOperation } from '../core/base/operation.ts';
import type { Log } from '../core/base/ports.ts';
import type { Gate } from '../core/call/invoke.ts';
import type { Services } from '../core/workflow/services.ts';

/** The caller of one request, as the transport verified it for that request. */
export interface Principal {
  readonly caller: Caller;
  /** `X-Workspace-Id` of the request. */
  readonly workspaceHint: string | undefined;
  /** Source address; empty on stdio. */
  readonly origin: string;
  /** When its request was read; undefined on stdio. */
  readonly readAt?: number;
  /** Id of its request; undefined on stdio. */
  readonly requestId?: string;
}

/** A page that a client with the extension MCP Apps shows beside answers. */
export interface View {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Names of the tools whose answers it shows. */
  readonly tools: readonly string[];
  /** An HTML document that includes all that it needs. */
  readonly html: string;
}

/** The options of the MCP surface, which both transports serve. */
export interface McpOptions {
  readonly operations: readonly AnyOperation<Services>[];
  /** Names of the operations shown as tools, in order. */
  readonly tools: readonly string[];
  readonly gate: Gate<Services>;
  readonly log: Log;
  /** Told of each tool call, for metrics: tool and `ok` or the problem's code. */
  readonly observe?: (tool: string, outcome: string, seconds: number) => void;
  /** For clients that negotiated MCP Apps; all others see the same as without. */
  readonly views?: readonly View[];
  /** More tools, resources and prompts beside the product's own; the conformance suite brings its fixtures so. */
  readonly extension?: Extension;
}

export interface ExtensionTool {
  readonly definition: Tool;
  call(
    args: Readonly<Record<string, unknown>>,
    context: ServerContext,
    server: Server,
  ): Promise<CallToolResult | InputRequiredResult>;
}

export interface ExtensionPrompt {
  readonly definition: Prompt;
  get(
    args: Readonly<Record<string, string>>,
    context: ServerContext,
  ): Promise<{ messages: PromptMessage[] } | InputRequiredResult>;
}

export interface Extension {
  readonly capabilities?: ServerCapabilities;
  readonly serverOptions?: Pick<ServerOptions, 'requestState'>;
  readonly tools: readonly ExtensionTool[];
  readonly resources: readonly Resource[];
  readonly templates: readonly ResourceTemplateType[];
  readonly prompts: readonly ExtensionPrompt[];
  /** Undefined when the URI is not one of its own. */
  read(uri: string): ReadContents[] | undefined;
  complete(params: CompleteRequestParams): string[] | undefined;
}

export type ReadContents = ResourceContents & ({ text: string } | { blob: string });
