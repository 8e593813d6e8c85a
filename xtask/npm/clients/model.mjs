// A model for tests, on loopback: it answers OpenAI's `POST …/responses` from a script instead of thinking.
//
// A script is a list of steps, one per request: {"call": {"name": …, "arguments": {…}}} has the agent call a tool, and
// {"text": …} is a final answer. In any string `{{output}}` stands for what the last tool returned, as the model was sent
// it, and `{{some.path}}` for that value in it where it is JSON: that is how a script applies the plan it was just shown.
//
// As a module: `const model = await start(script)` gives {url, seen, close}. As a program, for tests that start an agent of
// their own: `node model.mjs SCRIPT` prints {"base_url": …} and runs until its standard input closes. GET /seen gives what
// it was sent: per request {instructions, tools, strict, output}.
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";

export async function start(script) {
  const seen = [];
  const server = createServer(async (request, response) => {
    const reply = (status, body) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    // The OpenAI library tries again after 5xx answers: a script's mistakes must be 4xx, to be told once and at once.
    const refuse = (message) => reply(400, { error: { type: "invalid_request_error", code: "script", message } });
    try {
      if (request.method === "GET" && request.url === "/seen") return reply(200, seen);
      if (request.method !== "POST" || request.url !== "/v1/responses")
        return refuse(`${request.method} ${request.url} is not played`);
      let text = "";
      for await (const part of request.setEncoding("utf8")) text += part;
      const asked = JSON.parse(text);
      if (asked.stream) return refuse("streams are not played");
      const tools = asked.tools ?? [];
      seen.push({
        instructions: asked.instructions,
        tools: tools.map((tool) => tool.name),
        strict: tools.filter((tool) => tool.strict).map((tool) => tool.name),
        output: lastOutput(asked.input),
      });
      const step = fill(script[seen.length - 1], seen.at(-1).output);
      if (!step) return refuse(`the script has ${script.length} steps, and this is request ${seen.length}`);
      // A model cannot call what it was not offered.
      if (step.call && !tools.some((tool) => tool.name === step.call.name))
        return refuse(`no tool ${step.call.name} is offered`);
      reply(200, answer(step, seen.length, asked.model));
    } catch (e) {
      refuse(e.message);
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    seen,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The text of the newest tool result in a request; undefined where there is none. */
function lastOutput(input) {
  const item = Array.isArray(input) ? input.findLast((each) => each.type === "function_call_output") : undefined;
  if (!item || typeof item.output === "string") return item?.output;
  return item.output.map((part) => part.text ?? "").join("");
}

/** A step with its `{{…}}` filled in. */
function fill(step, output) {
  const value = (path) => {
    if (path === "output") return output ?? "";
    const found = path.split(".").reduce((at, key) => at?.[key], JSON.parse(output));
    if (found === undefined) throw new Error(`${path} is not in what the tool returned: ${output}`);
    return typeof found === "string" ? found : JSON.stringify(found);
  };
  if (typeof step === "string") return step.replace(/\{\{([\w.]+)\}\}/g, (_, path) => value(path));
  if (Array.isArray(step)) return step.map((each) => fill(each, output));
  if (step === null || typeof step !== "object") return step;
  return Object.fromEntries(Object.entries(step).map(([key, each]) => [key, fill(each, output)]));
}

function answer(step, number, model) {
  const item = step.call
    ? {
        type: "function_call",
        id: `fc_${number}`,
        call_id: `call_${number}`,
        name: step.call.name,
        arguments: JSON.stringify(step.call.arguments ?? {}),
        status: "completed",
      }
    : {
        type: "message",
        id: `msg_${number}`,
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: step.text, annotations: [] }],
      };
  return {
    id: `resp_${number}`,
    object: "response",
    created_at: 0,
    status: "completed",
    model,
    output: [item],
    usage: {
      input_tokens: 0,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 0,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 0,
    },
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const model = await start(JSON.parse(process.argv[2]));
  process.stdin.resume().on("end", model.close);
  console.log(JSON.stringify({ base_url: model.url }));
}
