// node agent.mjs [DIR] [QUESTION]
//
// An agent that works on the repository in DIR through gatewright: it can look, and rehearse what it would change.
import path from "node:path";
import { Agent, MCPServerStdio, run } from "@openai/agents";

const [root = ".", question = "Build the CSS of the tokens in `tokens`, but do not write any files yet."] =
  process.argv.slice(2);

// The SDK starts gatewright and talks to it over standard input and output.
const gatewright = new MCPServerStdio({
  name: "gatewright",
  command: "gatewright",
  args: ["serve", "--root", path.resolve(root)],
});

try {
  await gatewright.connect();
  const agent = new Agent({
    name: "Design system assistant",
    instructions:
      "You work on a team's design system with gatewright's tools. Tools that change something rehearse first: show the " +
      "plan that they return, and apply it only when you were told to.",
    mcpServers: [gatewright],
  });
  const result = await run(agent, question);
  console.log(result.finalOutput);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  // Ends the server process as well.
  await gatewright.close();
}
