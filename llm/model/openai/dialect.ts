import type OpenAI from 'openai';

/** How a server is told to answer in a form; servers that are compatible differ in which of them they know. */
export const LLM_MODES = ['json_schema', 'tool', 'json_object'] as const;
export type LlmMode = (typeof LLM_MODES)[number];

/** The options that a server turned out to understand. */
export interface Dialect {
  readonly mode: LlmMode;
  /** The name of the limit of the answer's length: older servers know only the second. */
  readonly limit: 'max_completion_tokens' | 'max_tokens' | 'none';
  /** How it is told to call the one tool: some servers ignore a tool that is named, and obey `required`. */
  readonly toolChoice: 'named' | 'required';
  /** True if it counts the tokens of a stream. */
  readonly countsTokens: boolean;
  /** True if it takes tools that the model may call. */
  readonly callsTools: boolean;
}

export const FIRST_DIALECT: Dialect = {
  mode: 'json_schema',
  limit: 'max_completion_tokens',
  toolChoice: 'named',
  countsTokens: true,
  callsTools: true,
};

/** Each refusal takes one thing away, so there is an end to it. */
export const MAX_ADJUSTMENTS = 7;

type Messages = OpenAI.Chat.ChatCompletionMessageParam[];
export type ChatParams = OpenAI.Chat.ChatCompletionCreateParamsStreaming;

/** A tool that the model may call. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** A JSON schema of its arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface FormedQuestion {
  readonly model: string;
  readonly messages: Messages;
  /** Absent: plain text is asked for. */
  readonly schema?: Readonly<Record<string, unknown>> | undefined;
  /** Tools that may be called before a question without a schema is answered. */
  readonly tools?: readonly ModelTool[] | undefined;
  readonly maxTokens: number;
}

const TOOL = 'network_plan';

/** The request in a dialect. Where the server cannot be given the schema, it stands in a message of its own, as data. */
export function paramsOf(question: FormedQuestion, dialect: Dialect): ChatParams {
  const { model, messages, schema, tools, maxTokens } = question;
  const { mode, limit, toolChoice, countsTokens, callsTools } = dialect;
  const params: ChatParams = {
    model,
    messages,
    stream: true,
    ...(limit !== 'none' && { [limit]: maxTokens }),
    ...(countsTokens && { stream_options: { include_usage: true } }),
  };
  if (!schema) {
    if (!tools?.length || !callsTools) return params;
    return {
      ...params,
      tools: tools.map((tool) => ({ type: 'function', function: { ...tool } })),
      tool_choice: 'auto',
    };
  }
  switch (mode) {
    case 'json_schema':
      return {
        ...params,
        response_format: { type: 'json_schema', json_schema: { name: TOOL, strict: true, schema } },
      };
    case 'tool':
      return {
        ...params,
        tools: [{ type: 'function', function: { name: TOOL, strict: true, parameters: schema } }],
        tool_choice: toolChoice === 'named' ? { type: 'function', function: { name: TOOL } } : 'required',
      };
    case 'json_object': {
      const [system, question, ...rest] = messages;
      const [first, ...others] = [system, question].filter((message) => message !== undefined);
      if (!first) return params;
      return {
        ...params,
        messages: [
          {
            ...first,
            content: `${String(first.content)}\n- The form is the JSON schema in answer_schema.`,
          } as typeof first,
          ...others.map((message) => withSchema(message, schema)),
          ...rest,
        ],
        response_format: { type: 'json_object' },
      };
    }
    default:
      return mode satisfies never;
  }
}

function withSchema(message: Messages[number], schema: object): Messages[number] {
  const document = JSON.parse(String(message.content)) as object;
  return { role: 'user', content: JSON.stringify({ ...document, answer_schema: schema }) };
}

/** The next dialect after an answer to the tool that did not call it; undefined when there is no other way to ask. */
export function insisting(dialect: Dialect): Dialect | undefined {
  return dialect.mode === 'tool' && dialect.toolChoice === 'named' ? { ...dialect, toolChoice: 'required' } : undefined;
}

/** The next dialect after an error that says what the server does not know; undefined when it says nothing of the kind. */
export function adjusted(
  dialect: Dialect,
  complaint: string,
  { isModeFixed, hasTools }: { readonly isModeFixed: boolean; readonly hasTools: boolean },
): Dialect | undefined {
  const text = complaint.toLowerCase();
  if (hasTools && dialect.callsTools && /tool|function/.test(text)) return { ...dialect, callsTools: false };
  if (dialect.countsTokens && /stream_options|include_usage/.test(text)) return { ...dialect, countsTokens: false };
  if (dialect.limit === 'max_completion_tokens' && text.includes('max_completion_tokens')) {
    return { ...dialect, limit: 'max_tokens' };
  }
  if (dialect.limit === 'max_tokens' && text.includes('max_tokens')) return { ...dialect, limit: 'none' };
  if (isModeFixed || !NAMES_FORM[dialect.mode].test(text)) return undefined;
  const next = LLM_MODES[LLM_MODES.indexOf(dialect.mode) + 1];
  return next && { ...dialect, mode: next };
}

const NAMES_FORM: Readonly<Record<LlmMode, RegExp>> = {
  json_schema: /response_format|json_schema|structured output|schema|grammar|strict/,
  tool: /tool|function|strict|schema|grammar/,
  json_object: /(?!)/,
};
