// Leads connections of a skill to the door of its world, which lets it through to the hosts that it was granted. Node does so
// itself from 22.21 and 24.5 on, where NODE_USE_ENV_PROXY is set.
import { request } from "node:http";
import https from "node:https";
import { connect as secured } from "node:tls";

const [major, minor] = process.versions.node.split(".").map(Number);
const leads = major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21);

// A connection to a host through the door, or the door's own words why there is none.
function through(host, port, done) {
  const door = new URL(process.env.HTTPS_PROXY);
  const path = `${host}:${port}`;
  const asked = request({ host: door.hostname, port: door.port, method: "CONNECT", path, agent: false });
  asked.once("error", done);
  asked.once("connect", (answer, socket, head) => {
    if (answer.statusCode === 200) return done(null, socket);
    let said = head.toString("utf8");
    socket.setEncoding("utf8");
    socket.on("data", (part) => (said += part));
    socket.once("close", () => done(new Error(said.trim() || `the door answers ${answer.statusCode}`)));
    socket.once("error", () => {});
    socket.end();
  });
  asked.end();
}

function connection(options, done) {
  const { hostname, host, port, protocol, servername, ...rest } = options;
  const name = hostname ?? host;
  if (protocol === "http:") return done(new Error("gatewright: hosts are reached by https alone"));
  through(name, port || 443, (error, socket) => {
    if (error) return done(error);
    const connected = secured({ ...rest, socket, servername: servername || name });
    const failed = (reason) => done(reason);
    connected.once("error", failed);
    connected.once("secureConnect", () => {
      connected.removeListener("error", failed);
      done(null, connected);
    });
  });
}

class Through extends https.Agent {
  createConnection(options, done) {
    connection(options, done);
  }
}

if (!leads) {
  https.globalAgent = new Through({ keepAlive: true });
  // fetch takes its connections from an agent of undici's, which is there once fetch was used.
  await fetch("data:,");
  const place = Symbol.for("undici.globalDispatcher.1");
  const Agent = globalThis[place]?.constructor;
  if (Agent) {
    const connect = ({ host: _, ...options }, done) => connection({ ...options, ALPNProtocols: ["http/1.1"] }, done);
    globalThis[place] = new Agent({ connect });
  }
}
