import { randomBytes } from 'node:crypto';
import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  type ElicitRequestFormParams,
  inputRequired,
  inputResponse,
  type ServerContext,
  type ServerNotifier,
  type Tool,
} from '@modelcontextprotocol/server';
import type { Extension, ExtensionPrompt, ExtensionTool, ReadContents } from '../mcp/surface.ts';

/**
 * The tools, resources and prompts that the official conformance suite expects of a server under test, as its scenarios
 * describe them. They are handed to the MCP face by tests alone.
 */
export function conformanceFixtures(notify: () => ServerNotifier): Extension {
  const state = createRequestStateCodec<{ round: number }>({ key: randomBytes(32), ttlSeconds: 60 });
  const listChanged = true;
  return {
    capabilities: { tools: { listChanged }, prompts: { listChanged }, resources: { subscribe: true, listChanged } },
    serverOptions: { requestState: { verify: state.verify } },
    tools: [...contentTools(), ...legacyTools(), ...roundTripTools(state), ...triggerTools(notify)],
    resources: [
      { uri: 'test://static-text', name: 'static-text', description: 'Text', mimeType: 'text/plain' },
      { uri: 'test://static-binary', name: 'static-binary', description: 'An image', mimeType: 'image/png' },
      { uri: 'test://watched-resource', name: 'watched-resource', description: 'Watched', mimeType: 'text/plain' },
    ],
    templates: [
      {
        uriTemplate: 'test://template/{id}/data',
        name: 'template',
        description: 'By id',
        mimeType: 'application/json',
      },
    ],
    prompts: prompts(),
    read,
    complete: ({ ref }) => (ref.type === 'ref/prompt' && ref.name.startsWith('test_') ? ['testing'] : undefined),
  };
}

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';

const text = (value: string) => ({ type: 'text' as const, text: value });
const said = (value: string): CallToolResult => ({ content: [text(value)] });
const embedded = (uri: string, mimeType: string, value: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: value },
});

function tool(
  name: string,
  call: ExtensionTool['call'],
  inputSchema: Tool['inputSchema'] = { type: 'object' },
): ExtensionTool {
  return { definition: { name, description: `Fixture ${name}`, inputSchema }, call };
}

function contentTools(): ExtensionTool[] {
  const image = { type: 'image' as const, data: PNG, mimeType: 'image/png' };
  const audio = { type: 'audio' as const, data: WAV, mimeType: 'audio/wav' };
  return [
    tool('test_simple_text', async () => said('This is a simple text response for testing.')),
    tool('test_image_content', async () => ({ content: [image] })),
    tool('test_audio_content', async () => ({ content: [audio] })),
    tool('test_embedded_resource', async () => ({
      content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
    })),
    tool('test_multiple_content_types', async () => ({
      content: [
        text('Multiple content types test:'),
        image,
        embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ],
    })),
    tool('test_error_handling', async () => ({
      isError: true,
      ...said('This tool intentionally returns an error for testing'),
    })),
    tool('test_tool_with_progress', async (_args, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
      }
      return said('done');
    }),
    tool('json_schema_2020_12_tool', async () => said('done'), {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
      },
      properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
      additionalProperties: false,
    }),
    tool('test_x_mcp_header', async () => said('done'), {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
    }),
  ];
}

/** Unless told so, the SDK asks by the stream of the session, and drops the question where the client is only opening that one. */
const onItsStream = ({ id }: ServerContext['mcpReq']) => ({ relatedRequestId: id });

function legacyTools(): ExtensionTool[] {
  const log = (context: ServerContext, message: string) => context.mcpReq.log('info', message);
  const elicit = async (
    { mcpReq }: ServerContext,
    message: string,
    properties: Properties,
    required: string[] = [],
  ) => {
    const params: ElicitRequestFormParams = { message, requestedSchema: { type: 'object', properties, required } };
    const { action, content } = await mcpReq.elicitInput(params, onItsStream(mcpReq));
    return said(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`);
  };
  return [
    tool('test_tool_with_logging', async (_args, context) => {
      await log(context, 'Tool execution started');
      await log(context, 'Tool processing data');
      await log(context, 'Tool execution completed');
      return said('done');
    }),
    tool('test_logging_tool', async (_args, context) => {
      await log(context, 'a message for those who asked for a level');
      return said('done');
    }),
    tool(
      'test_sampling',
      async (args, { mcpReq }) => {
        const content = text(String(args['prompt'] ?? ''));
        const params = { messages: [{ role: 'user' as const, content }], maxTokens: 100 };
        const answer = await mcpReq.requestSampling(params, onItsStream(mcpReq));
        return said(`LLM response: ${JSON.stringify(answer.content)}`);
      },
      { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
    ),
    tool(
      'test_elicitation',
      (args, context) =>
        elicit(context, String(args['message'] ?? ''), { username: { type: 'string' }, email: { type: 'string' } }),
      { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
    ),
    tool('test_elicitation_sep1034_defaults', (_args, context) =>
      elicit(context, 'Please review the defaults', {
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', default: true },
      }),
    ),
    tool('test_elicitation_sep1330_enums', (_args, context) => elicit(context, 'Please choose', ENUMS)),
  ];
}

type Properties = ElicitRequestFormParams['requestedSchema']['properties'];

const CHOICES = ['First', 'Second', 'Third'];
const titled = (noun: string) =>
  CHOICES.map((title, index) => ({ const: `value${index + 1}`, title: `${title} ${noun}` }));
const ENUMS: Properties = {
  untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
  titledSingle: { type: 'string', oneOf: titled('Option') },
  legacyEnum: {
    type: 'string',
    enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'],
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
  titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
};

const form = (message: string, properties: Properties, required: string[]) =>
  inputRequired.elicit({ message, requestedSchema: { type: 'object', properties, required } });
const askName = (message = 'What is your name?') => form(message, { name: { type: 'string' } }, ['name']);
const askOk = () => form('Please confirm', { ok: { type: 'boolean' } }, ['ok']);
const askModel = (question: string, maxTokens: number) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: text(question) }], maxTokens });

function roundTripTools(state: ReturnType<typeof createRequestStateCodec<{ round: number }>>): ExtensionTool[] {
  const confirmed: ExtensionTool['call'] = async (_args, { mcpReq }) => {
    const isConfirmed = acceptedContent(mcpReq.inputResponses, 'confirm') !== undefined;
    if (isConfirmed && mcpReq.requestState() !== undefined) return said('state-ok');
    return inputRequired({ inputRequests: { confirm: askOk() }, requestState: await state.mint({ round: 1 }) });
  };
  return [
    tool('test_input_required_result_elicitation', async (_args, { mcpReq }) => {
      const answer = acceptedContent(mcpReq.inputResponses, 'user_name');
      return answer ? said(`Hello, ${answer['name']}!`) : inputRequired({ inputRequests: { user_name: askName() } });
    }),
    tool('test_input_required_result_sampling', async (_args, { mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, 'capital_question');
      if (answer.kind === 'sampling') return said(JSON.stringify(answer.result.content));
      return inputRequired({ inputRequests: { capital_question: askModel('What is the capital of France?', 100) } });
    }),
    tool('test_input_required_result_list_roots', async (_args, { mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, 'client_roots');
      if (answer.kind === 'roots') return said(answer.roots.map(({ uri }) => uri).join(', ') || 'no roots');
      return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
    }),
    tool('test_input_required_result_request_state', confirmed),
    tool('test_input_required_result_tampered_state', confirmed),
    tool('test_input_required_result_multiple_inputs', async (_args, { mcpReq }) => {
      const keys = ['user_name', 'greeting', 'client_roots'];
      if (keys.every((key) => inputResponse(mcpReq.inputResponses, key).kind !== 'missing')) return said('complete');
      return inputRequired({
        inputRequests: {
          user_name: askName(),
          greeting: askModel('Generate a greeting', 50),
          client_roots: inputRequired.listRoots(),
        },
        requestState: await state.mint({ round: 1 }),
      });
    }),
    tool('test_input_required_result_multi_round', async (_args, { mcpReq }) => {
      const round = mcpReq.requestState<{ round: number }>()?.round ?? 0;
      const step2 = acceptedContent(mcpReq.inputResponses, 'step2');
      if (round === 2 && step2) return said(`complete: ${step2['color']}`);
      if (round >= 1 && acceptedContent(mcpReq.inputResponses, 'step1')) {
        const ask = form('Step 2: What is your favorite color?', { color: { type: 'string' } }, ['color']);
        return inputRequired({ inputRequests: { step2: ask }, requestState: await state.mint({ round: 2 }) });
      }
      const ask = askName('Step 1: What is your name?');
      return inputRequired({ inputRequests: { step1: ask }, requestState: await state.mint({ round: 1 }) });
    }),
    tool('test_input_required_result_capabilities', async (_args, { mcpReq }) => {
      const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
      const declared = (envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {}) as Readonly<Record<string, unknown>>;
      return inputRequired({
        inputRequests: {
          ...(declared['sampling'] !== undefined && { model: askModel('Say something', 50) }),
          ...(declared['elicitation'] !== undefined && { person: askName() }),
        },
      });
    }),
    tool('test_missing_capability', async () =>
      inputRequired({ inputRequests: { model: askModel('Say something', 50) } }),
    ),
    tool('test_streaming_elicitation', async (_args, { mcpReq }) => {
      const answer = acceptedContent(mcpReq.inputResponses, 'user_name');
      return answer ? said('complete') : inputRequired({ inputRequests: { user_name: askName() } });
    }),
  ];
}

function triggerTools(notify: () => ServerNotifier): ExtensionTool[] {
  return [
    tool('test_trigger_tool_change', async () => {
      notify().toolsChanged();
      return said('done');
    }),
    tool('test_trigger_prompt_change', async () => {
      notify().promptsChanged();
      return said('done');
    }),
  ];
}

function prompts(): ExtensionPrompt[] {
  const user = (content: ReturnType<typeof text> | ReturnType<typeof embedded>) => ({ role: 'user' as const, content });
  const argument = (name: string) => ({ name, description: `Argument ${name}`, required: true });
  const define = (name: string, get: ExtensionPrompt['get'], args: string[] = []): ExtensionPrompt => ({
    definition: { name, description: `Fixture ${name}`, arguments: args.map(argument) },
    get,
  });
  return [
    define('test_simple_prompt', async () => ({ messages: [user(text('This is a simple prompt for testing.'))] })),
    define(
      'test_prompt_with_arguments',
      async ({ arg1, arg2 }) => ({
        messages: [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
      }),
      ['arg1', 'arg2'],
    ),
    define(
      'test_prompt_with_embedded_resource',
      async ({ resourceUri = '' }) => ({
        messages: [
          user(embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.')),
          user(text('Please process the embedded resource above.')),
        ],
      }),
      ['resourceUri'],
    ),
    define('test_prompt_with_image', async () => ({
      messages: [
        { role: 'user', content: { type: 'image', data: PNG, mimeType: 'image/png' } },
        user(text('Please analyze the image above.')),
      ],
    })),
    define('test_input_required_result_prompt', async (_args, { mcpReq }) => {
      const answer = acceptedContent(mcpReq.inputResponses, 'user_context');
      if (answer) return { messages: [user(text(`Use this context: ${answer['context']}`))] };
      const ask = form('What context should the prompt use?', { context: { type: 'string' } }, ['context']);
      return inputRequired({ inputRequests: { user_context: ask } });
    }),
  ];
}

function read(uri: string): ReadContents[] | undefined {
  if (uri === 'test://static-binary') return [{ uri, mimeType: 'image/png', blob: PNG }];
  if (uri === 'test://static-text') {
    return [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }];
  }
  if (uri === 'test://watched-resource') return [{ uri, mimeType: 'text/plain', text: 'Watched resource content' }];
  const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? [];
  if (!id) return undefined;
  const data = { id, templateTest: true, data: `Data for ID: ${id}` };
  return [{ uri, mimeType: 'application/json', text: JSON.stringify(data) }];
}
